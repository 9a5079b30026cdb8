import { expect, test } from 'vitest';
import { lockStaircase } from '../../../loadtest/staircase/locks.ts';
import { columnOf, hasNothingToBreak, taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { allCells, fixes, type PlannedCell, stageBefore, storyCells } from '../../../loadtest/staircase/plan.ts';
import { locks } from '../../../locks/index.ts';

const stages = Object.keys(locks);
const drills = Object.keys(lockStaircase.columns).map((name) => ({ name }));
type Cell = PlannedCell<(typeof drills)[number]>;
const namesOf = (cells: Cell[]) => cells.map(({ stage, drill }) => `${stage} ${drill.name}`);

/** What the story tells of each stage: the two rushes, what the stage fixes, and what it still fails. */
const story: Record<string, string[]> = {
  '0-none': ['one-node-rush', 'rush', 'sell-out'],
  '1-in-process': ['one-node-rush', 'rush', 'sell-out'],
  '2-recursive-retry': ['rush', 'sell-out', 'long-wait'],
  '3-spin': ['rush', 'long-wait', 'crashed-holder'],
  '4-ttl': ['rush', 'crashed-holder', 'slow-holder'],
  '5-owner-check': ['rush', 'slow-holder', 'late-release'],
  '6-lua-release': ['rush', 'late-release', 'nested-call'],
  '7-reentrant': ['rush', 'nested-call', 'long-sale'],
  '8-auto-renew': [
    'rush',
    'hung-holder',
    'long-sale',
    'paused-process',
    'blocked-loop',
    'late-write',
    'crossed-write',
    'failover',
    'forgotten-sale',
  ],
};
const ownCells = (stage: string) => (story[stage] ?? []).map((drill) => `${stage} ${drill}`);

test('story: of each stage its rush, what it fixes and what it fails, no cell twice, and every failure that is not aside', () => {
  const names = namesOf(storyCells(stages, drills));
  const failed = stages.flatMap((stage) =>
    drills
      .filter(({ name }) => taughtVerdict(stage, name) === 'fail' && !columnOf(name)?.isAside)
      .map(({ name }) => `${stage} ${name}`),
  );

  expect(names).toEqual(stages.flatMap(ownCells));
  expect(names).toEqual(expect.arrayContaining(failed));
});

test('story: every stage passes something that the one before fails, which alone comes under that one first', () => {
  const fixed = (stage: string) => drills.map(({ name }) => name).filter((name) => fixes(stage, name));

  expect(stages.map(stageBefore)).toEqual([undefined, ...stages.slice(0, -1)]);
  expect(fixed('0-none')).toEqual([]);
  expect(fixed('2-recursive-retry')).toEqual(['rush', 'sell-out']);
  for (const [at, stage] of stages.entries()) {
    const before = fixed(stage).map((drill) => `${stages[at - 1]} ${drill}`);
    expect(before.length > 0).toBe(at > 0);
    expect(namesOf(storyCells([stage], drills))).toEqual([...before, ...ownCells(stage)]);
  }
});

test('all cells: every drill that can break a stage under every stage, in the order that was given', () => {
  const ofStages = drills.filter(({ name }) => !hasNothingToBreak('8-auto-renew', name)).map(({ name }) => name);

  expect(namesOf(allCells(stages, drills))).toEqual(
    stages.flatMap((stage) => ofStages.map((name) => `${stage} ${name}`)),
  );
});
