import { describe, expect, test } from 'vitest';
import { lockStaircase } from '../../../loadtest/staircase/locks.ts';
import { columnOf, hasNothingToBreak, taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { allCells, fixes, type PlannedCell, stageBefore, storyCells } from '../../../loadtest/staircase/plan.ts';
import { locks } from '../../../locks/index.ts';

const stages = Object.keys(locks);
const drills = Object.keys(lockStaircase.columns).map((name) => ({ name }));
type Cell = PlannedCell<(typeof drills)[number]>;
const versionOf = (stage: string) => Number.parseInt(stage, 10);

/** The drills that a plan has under a stage, in its order. */
const under = (cells: Cell[], stage: string) =>
  cells.filter((cell) => cell.stage === stage).map(({ drill }) => drill.name);
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
/** What a stage fixes: run under the stage before as well. */
const fixed: Record<string, string[]> = {
  '0-none': [],
  '1-in-process': ['one-node-rush'],
  '2-recursive-retry': ['rush', 'sell-out'],
  '3-spin': ['long-wait'],
  '4-ttl': ['crashed-holder'],
  '5-owner-check': ['slow-holder'],
  '6-lua-release': ['late-release'],
  '7-reentrant': ['nested-call'],
  '8-auto-renew': ['long-sale'],
};

describe('story: all stages', () => {
  const cells = storyCells(stages, drills);

  test.each(stages)('%s: its rush, what it fixes and what it fails, and no other drill', (stage) => {
    expect(under(cells, stage)).toEqual(story[stage]);
  });

  test('the stages come one after the other, and no cell twice', () => {
    expect([...new Set(cells.map(({ stage }) => stage))]).toEqual(stages);
    const versions = cells.map(({ stage }) => versionOf(stage));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(namesOf(cells)).size).toBe(cells.length);
  });

  test('every failure that is taught and not aside is shown, and every stage passes something that the one before fails', () => {
    const isTold = new Set(namesOf(cells));
    for (const stage of stages) {
      const failed = drills.filter(({ name }) => taughtVerdict(stage, name) === 'fail' && !columnOf(name)?.isAside);
      for (const { name } of failed) expect(isTold).toContain(`${stage} ${name}`);
      if (versionOf(stage) > 0) expect(fixed[stage]?.length).toBeGreaterThan(0);
    }
  });
});

describe('story: one stage alone', () => {
  test.each(stages)('%s: first what it fixes under the stage before, then its own cells', (stage) => {
    const cells = storyCells([stage], drills);
    const before = stageBefore(stage);
    const beforeCells = (fixed[stage] ?? []).map((drill) => `${before} ${drill}`);
    const own = (story[stage] ?? []).map((drill) => `${stage} ${drill}`);
    expect(namesOf(cells)).toEqual([...beforeCells, ...own]);
  });

  test('a stage that is named twice is in the story once', () => {
    expect(storyCells(['4-ttl', '4-ttl'], drills)).toEqual(storyCells(['4-ttl'], drills));
  });

  test('two stages, in whatever order: no cell twice, and all of both', () => {
    for (const pair of [
      ['3-spin', '4-ttl'],
      ['4-ttl', '3-spin'],
      ['2-recursive-retry', '8-auto-renew'],
    ]) {
      const names = namesOf(storyCells(pair, drills));
      expect(new Set(names).size).toBe(names.length);
      const alone = pair.flatMap((stage) => namesOf(storyCells([stage], drills)));
      expect(names.toSorted()).toEqual([...new Set(alone)].toSorted());
    }
  });
});

describe('story: what a stage fixes', () => {
  test.each(stages)('%s: passes it, and the stage before fails it', (stage) => {
    expect(drills.map(({ name }) => name).filter((name) => fixes(stage, name))).toEqual(fixed[stage]);
  });

  test('the stage before, and none before the first', () => {
    expect(stages.map(stageBefore)).toEqual([undefined, ...stages.slice(0, -1)]);
  });
});

test('all cells: every drill under every stage, stage by stage, in the order that was given', () => {
  const cells = allCells(stages, drills);
  const ofStages = drills.filter(({ name }) => !hasNothingToBreak('8-auto-renew', name));
  expect(cells).toHaveLength(stages.length * ofStages.length);
  expect([...new Set(cells.map(({ stage }) => stage))]).toEqual(stages);
  for (const stage of stages) expect(under(cells, stage)).toEqual(ofStages.map(({ name }) => name));
  expect(new Set(namesOf(cells)).size).toBe(cells.length);
  const [, rush, sellOut] = drills;
  if (rush === undefined || sellOut === undefined) throw new Error('There are no drills.');
  expect(namesOf(allCells(['4-ttl', '1-in-process'], [sellOut, rush]))).toEqual([
    '4-ttl sell-out',
    '4-ttl rush',
    '1-in-process sell-out',
    '1-in-process rush',
  ]);
});
