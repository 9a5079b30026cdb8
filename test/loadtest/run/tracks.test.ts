import { expect, test } from 'vitest';
import type { Cell } from '../../../loadtest/harness/drill.ts';
import { allCells, drillsOf, storyOf } from '../../../loadtest/run/tracks.ts';
import { columnOf, fixes, hasNothingToBreak, rowOf, verdictExpected } from '../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../locks/index.ts';

const stages = Object.keys(locks);
const drills = drillsOf('locks').filter(({ name }) => !columnOf(name)?.isOption);
const namesOf = (cells: Cell[]) => cells.map(({ stage, drill }) => `${stage} ${drill.name}`);

const ofStage = (stage: string) => namesOf(storyOf('locks', [stage])).filter((name) => name.startsWith(stage));

test('story: no cell twice, a rush under every stage, what it fixes, and every failure that is not aside', () => {
  const names = namesOf(storyOf('locks', stages));
  const failed = stages.flatMap((stage) =>
    drills
      .filter(({ name }) => verdictExpected(stage, name) === 'fail' && !columnOf(name)?.isAside)
      .map(({ name }) => `${stage} ${name}`),
  );
  const fixed = stages.flatMap((stage) =>
    drills.flatMap(({ name }) => (fixes(stage, name) ? [`${stage} ${name}`] : [])),
  );

  expect(names).toEqual([...new Set(names)]);
  expect(names).toEqual(stages.flatMap(ofStage));
  expect(names).toEqual(expect.arrayContaining([...stages.map((stage) => `${stage} rush`), ...failed, ...fixed]));
  // What shows nothing new is left out.
  expect(names.length).toBeLessThan(allCells(stages, drills).length / 2);
});

test('story: every stage passes something that the one before fails, which alone comes under that one first', () => {
  const fixed = (stage: string) => drills.map(({ name }) => name).filter((name) => fixes(stage, name));

  expect(stages.map((stage) => rowOf(stage)?.before)).toEqual([undefined, ...stages.slice(0, -1)]);
  expect(fixed('0-none')).toEqual([]);
  expect(fixed('2-recursive-retry')).toEqual(['rush', 'sell-out']);
  for (const [at, stage] of stages.entries()) {
    const before = fixed(stage).map((drill) => `${stages[at - 1]} ${drill}`);
    expect(before.length > 0).toBe(at > 0);
    expect(namesOf(storyOf('locks', [stage]))).toEqual([...before, ...ofStage(stage)]);
  }
});

test('all cells: every drill that can break a stage under every stage, in the order that was given', () => {
  const ofStages = drills.filter(({ name }) => !hasNothingToBreak('8-auto-renew', name)).map(({ name }) => name);

  expect(namesOf(allCells(stages, drills))).toEqual(
    stages.flatMap((stage) => ofStages.map((name) => `${stage} ${name}`)),
  );
});
