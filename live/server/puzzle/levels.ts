// The levels of "you are the scheduler": each stage in a scope that breaks it, and in one in which it holds.

import { type ProvableLock, provableLocks } from '../../../loadtest/prove/plan.ts';
import { stageTitle } from '../../../loadtest/report/story.ts';
import { type Scope, scopes } from '../../../prove/scopes.ts';
import type { Counting, LevelChoice, LevelScope } from '../../puzzle-contract.ts';

/** What a game and a search need to know of a level. */
export interface LevelTask {
  /** The file that exports `createLock`. */
  file: string;
  scope: LevelScope;
  processes: number;
}

export interface Level extends LevelTask {
  choice: LevelChoice;
  /** Everything that counts as reached. */
  counts: Counting[];
  /** What the search says of it. */
  expects: 'fails' | 'holds';
}

type Row = [stage: string, scope: LevelScope, expects: Level['expects'], processes: number];

/** What broke the stage before holds in this one, where the stage mends it. */
const table: Row[] = [
  ['1-in-process', 'plain', 'fails', 2],
  ['1-in-process', 'crashed-holder', 'holds', 2],
  ['2-recursive-retry', 'nested-call', 'fails', 2],
  ['2-recursive-retry', 'plain', 'holds', 3],
  ['3-spin', 'crashed-holder', 'fails', 2],
  ['3-spin', 'slow-holder', 'holds', 2],
  ['4-ttl', 'slow-holder', 'fails', 2],
  ['4-ttl', 'crashed-holder', 'holds', 3],
  ['5-owner-check', 'late-release', 'fails', 2],
  ['5-owner-check', 'slow-holder', 'holds', 2],
  ['6-lua-release', 'long-sale', 'fails', 2],
  ['6-lua-release', 'late-release', 'holds', 2],
  ['7-reentrant', 'paused-process', 'fails', 2],
  ['7-reentrant', 'nested-call', 'holds', 2],
  ['8-auto-renew', 'late-write', 'fails', 2],
  ['8-auto-renew', 'long-sale', 'holds', 2],
  ['fenced', 'failover', 'fails', 2],
  ['fenced', 'late-write', 'holds', 2],
];

export const levels: Level[] = table.map(levelOf);

export const levelNamed = (name: string) => levels.find(({ choice }) => choice.name === name);

function levelOf([stage, scope, expects, processes]: Row): Level {
  const { file } = lockNamed(stage);
  const name = `${stage}/${scope}`;
  const choice = { name, stage, scope, title: stageTitle(stage), processes };
  const counts: Counting[] = [...scopeNamed(scope).demands, 'nobody waits for ever'];
  return { file, scope, processes, choice, expects, counts };
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
