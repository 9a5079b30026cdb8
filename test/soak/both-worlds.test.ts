// Cells of the staircase in both worlds. The virtual world is a model: where real servers disagree with it, it is wrong, or the drill is.
//
// There are 583 cells, which take half an hour and more on real servers. These are chosen, a quarter of them:
// - each drill under the first and the last lock that it fails, and under the first and the last that holds: a stage of the course and
//   one of the locks beyond it, whose servers are often others;
// - each lock under two drills of its row, other ones for each lock, so that none is left out.
// What is not played here differs by its lock alone or by its drill alone, and each of both is played.

import { describe, expect, test } from 'vitest';
import type { StepFigures } from '../../loadtest/evidence/results.ts';
import type { Drill, DrillOutcome } from '../../loadtest/harness/drill.ts';
import { drills } from '../../loadtest/scenarios/index.ts';
import { hasNothingToBreak, verdictExpected } from '../../loadtest/staircase/lookup.ts';
import { playDrill, usualSettings } from '../../loadtest/worlds/simulated/play.ts';
import { backendOf, strategies } from '../../locks/index.ts';
import { isVirtual } from '../../simulation/lock-service.ts';
import { ownTargets } from '../loadtest/drills/own-targets.ts';

type Cell = [drill: string, lock: string];

const locks = Object.keys(strategies);
/** What a drill must come to under a lock; null where nothing is expected, and where there is nothing to break. */
const expected = (drill: string, lock: string) =>
  hasNothingToBreak(lock, drill) ? null : verdictExpected(lock, drill);
const drillNamed = (name: string) => drills.find((drill) => drill.name === name) as Drill;

const ofEachDrill = drills.flatMap(({ name }) =>
  ['fail', 'pass'].flatMap((verdict): Cell[] => {
    const [first, ...others] = locks.filter((lock) => expected(name, lock) === verdict);
    return [first, others.at(-1)].flatMap((lock) => (lock === undefined ? [] : [[name, lock]]));
  }),
);
const ofEachLock = locks.flatMap((lock, place): Cell[] => {
  const row = drills.filter(({ kind, name }) => kind === 'steps' && expected(name, lock) !== null);
  const places = new Set([place % row.length, (place + Math.floor(row.length / 2)) % row.length]);
  return row.filter((_, at) => places.has(at)).map(({ name }) => [name, lock]);
});
const cells = [...new Map([...ofEachDrill, ...ofEachLock].map((cell) => [cell.join(), cell])).values()];

/** The virtual world does not have what it needs: a stack of thousands of calls. */
const REAL_ONLY = ['long-wait'];
/** What depends on how often something happened in a while, or on who was quicker. */
const ofLuck: Record<string, string[]> = {
  'redis-outage': ['sent', 'sold', 'refused', 'inDoubt', 'finalStock', 'expectedStock'],
  overtaking: ['overtaken'],
};

/** What reasons have in common, whatever was measured. */
const withoutFigures = (reason: string) => reason.replace(/\d[\d,.]*( m?s\b)?/g, 'N');

/** What two worlds must agree on: the verdict, why, what was broken in which order, and what was counted. */
function essenceOf(drill: string, { verdict, reasons, figures, timeline }: DrillOutcome) {
  const counted = Object.entries((timeline && (figures as StepFigures)) ?? {});
  const isExact = (name: string) => !name.endsWith('Ms') && !ofLuck[drill]?.includes(name);
  return {
    verdict,
    why: withoutFigures(reasons.join(' ')),
    broken: timeline?.faults.map(({ label }) => label),
    figures: counted.map(([name, figure]) => (isExact(name) ? [name, figure] : [name])),
  };
}

const { target } = ownTargets([...new Set(locks.map(backendOf))], { hasReplica: true });

const playForReal = (drill: Drill, stage: string) =>
  drill.run({
    target: target(),
    stage,
    settings: usualSettings,
    signal: new AbortController().signal,
    onProgress() {},
    narrate: async () => {},
  });

test('no drill is left out, and no lock', () => {
  expect(new Set(cells.map(([drill]) => drill))).toEqual(new Set(drills.map(({ name }) => name)));
  expect(new Set(cells.map(([, lock]) => lock))).toEqual(new Set(locks));
});

describe('real servers agree with the virtual world', () => {
  test.each(cells)('%s under %s', async (name, lock) => {
    const drill = drillNamed(name);
    const real = await playForReal(drill, lock);

    const lacking = target().redisLacks[lock];
    if (lacking !== undefined) {
      expect(real).toMatchObject({ verdict: 'not-applicable', reasons: [lacking] });
    } else if (isVirtual(lock) && !REAL_ONLY.includes(name)) {
      const { outcome } = await playDrill(drill, lock);
      expect(essenceOf(name, real)).toEqual(essenceOf(name, outcome));
    } else {
      const { verdict, reasons } = real;
      expect({ verdict, reasons }).toMatchObject({ verdict: expected(name, lock) });
    }
  });
});
