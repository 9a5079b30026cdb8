// The levels of "you are the scheduler": each stage in a scope that breaks it, and in one in which it holds.

import { type ProvableLock, provableLocks } from '../../../loadtest/prove/plan.ts';
import { stageTitle } from '../../../loadtest/report/story.ts';
import { type Demand, type Scope, scopes } from '../../../prove/scopes.ts';
import type { LevelChoice } from '../../puzzle-contract.ts';

/** What a game and a search need to know of a level. */
export interface LevelTask {
  /** The file that exports `createLock`. */
  file: string;
  /** The name of the scope. */
  scope: string;
  processes: number;
}

export interface Level extends LevelTask {
  choice: LevelChoice;
  /** Everything that counts as reached, a sentence each. */
  counts: string[];
  /** What the search says of it. */
  expects: 'fails' | 'holds';
}

type Row = [stage: string, scope: string, expects: Level['expects'], processes: number, goal: string];

/** What broke the stage before holds in this one, where the stage mends it. */
const table: Row[] = [
  ['1-in-process', 'plain', 'fails', 2, 'Put two inside, or lose a sale. Nothing has to go wrong for it.'],
  ['1-in-process', 'crashed-holder', 'holds', 2, 'Kill a holder so that nobody enters any more.'],
  ['2-recursive-retry', 'nested-call', 'fails', 2, 'Make A wait for the lock that it holds itself.'],
  ['2-recursive-retry', 'plain', 'holds', 3, 'Put two inside, or lose a sale.'],
  ['3-spin', 'crashed-holder', 'fails', 2, 'Kill a holder so that nobody enters any more.'],
  [
    '3-spin',
    'slow-holder',
    'holds',
    2,
    'Put two inside, or let one delete the lock of another: a holder may be paused.',
  ],
  ['4-ttl', 'slow-holder', 'fails', 2, 'Let one delete the lock of another that is inside: a holder may be paused.'],
  ['4-ttl', 'crashed-holder', 'holds', 3, 'Kill a holder so that nobody enters any more.'],
  ['5-owner-check', 'late-release', 'fails', 2, 'Let a release arrive so late that it deletes the lock of another.'],
  [
    '5-owner-check',
    'slow-holder',
    'holds',
    2,
    'Let one delete the lock of another that is inside: a holder may be paused.',
  ],
  ['6-lua-release', 'long-sale', 'fails', 2, 'Put two inside: each sale takes two and a half leases.'],
  ['6-lua-release', 'late-release', 'holds', 2, 'Let a release arrive so late that it deletes the lock of another.'],
  ['7-reentrant', 'paused-process', 'fails', 2, 'Lose a sale: a holder may be paused.'],
  ['7-reentrant', 'nested-call', 'holds', 2, 'Make A wait for the lock that it holds itself.'],
  ['8-auto-renew', 'late-write', 'fails', 2, 'Lose a sale: a write may be held up until another sale has written.'],
  ['8-auto-renew', 'long-sale', 'holds', 2, 'Put two inside: each sale takes two and a half leases.'],
  ['fenced', 'failover', 'fails', 2, 'Put two inside: Redis may be replaced by a replica that lacks the last command.'],
  ['fenced', 'late-write', 'holds', 2, 'Lose a sale: a write may be held up until another sale has written.'],
];

const counting: Record<Demand, string> = {
  alone: 'Two are inside at the same time.',
  'alone within leases': 'Two are inside at the same time, and the leases of both run.',
  untouched: 'One changes the lock of another that is inside and within its lease.',
  'no lost sale': 'At the end the stock is higher than the sales say.',
  'soon after a crash': 'Two leases after a crash nobody has entered, and somebody waits.',
  're-entry': 'A waits for its own lock until its lease is over.',
  'no deadlock': 'All wait for each other.',
  'no wait for a free lock': 'Somebody waits, and the lock is free.',
  'same stock': 'One that only looks sees two different stocks.',
  'all sell': 'A sale fails.',
  'nothing left': 'All is over, and a timer or a key of the lock is left.',
};
/** It counts whatever the scope demands. */
const ALWAYS = 'Somebody waits for ever.';

export const levels: Level[] = table.map(levelOf);

export const levelNamed = (name: string) => levels.find(({ choice }) => choice.name === name);

function levelOf([stage, scopeName, expects, processes, goal]: Row): Level {
  const { file } = lockNamed(stage);
  const { says, demands } = scopeNamed(scopeName);
  const name = `${stage}/${scopeName}`;
  const choice = { name, stage, scope: scopeName, title: stageTitle(stage), says, processes, goal };
  const counts = [...demands.map((one) => counting[one]), ALWAYS];
  return { file, scope: scopeName, processes, choice, expects, counts };
}

function lockNamed(stage: string): ProvableLock {
  const found = provableLocks.find((lock) => lock.stage === stage);
  if (found === undefined) throw new Error(`There is no lock ${stage} that can be searched.`);
  return found;
}

function scopeNamed(name: string): Scope {
  const found = scopes.find((scope) => scope.name === name);
  if (found === undefined) throw new Error(`There is no scope ${name}.`);
  return found;
}
