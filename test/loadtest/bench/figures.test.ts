import { describe, expect, test } from 'vitest';
import {
  type Evidence,
  figuresOf,
  idealWaitsMs,
  ratiosOf,
  spreadOf,
  spreadOver,
} from '../../../loadtest/bench/figures.ts';
import { quantile } from '../../../loadtest/narration/numbers.ts';
import { sampleBench, turn } from './sample-bench.ts';

const counted = { windowMs: 500, measuredFrom: 100, starved: [] as number[], errors: 0 };
const first = { ...counted, sections: 5, cpuMicros: 900, waits: [30, 10, 20], enteredAt: [50, 110, 120, 180] };
const second = { ...counted, sections: 2, cpuMicros: 100, waits: [40], enteredAt: [70, 90, 160] };

/** Two processes of two waiters each, measured for 500 ms: three acquisitions and one. */
function evidence(given: Partial<Evidence> = {}): Evidence {
  return {
    asking: 4,
    hasQueue: true,
    counted: [first, second],
    before: { count: 2, commands: 100, cpu: { redis: 1_000 } },
    after: { count: 6, commands: 150, cpu: { redis: 1_040 } },
    finalCount: 7,
    ...given,
  };
}

describe('figures of a turn', () => {
  test('rate, commands and waits are those of the window, over both processes', () => {
    expect(figuresOf(evidence())).toEqual({
      perSecond: 8,
      commandsPerAcquisition: 12.5,
      cpuMicros: { processes: 250, redis: 10 },
      waitMs: { p50: 20, p99: 40, max: 40 },
      p99ToIdeal: 40 / 70,
      sections: 7,
      lostUpdates: 0,
      starved: 0,
      errors: 0,
    });
  });

  test('who got nothing in the window counts with its wait so far, and then p99 is compared with nothing', () => {
    const figures = figuresOf(evidence({ counted: [{ ...first, starved: [700, 900] }, second] }));
    expect(figures).toMatchObject({ starved: 2, waitMs: { p50: 30, p99: 900, max: 900 } });
    expect(figures).not.toHaveProperty('p99ToIdeal');
  });

  test('where nobody waits for another there is no queue to compare with', () => {
    expect(figuresOf(evidence({ hasQueue: false }))).not.toHaveProperty('p99ToIdeal');
  });

  test('a counter below the number of sections: updates were lost; errors are added up, and one is named', () => {
    const counted = [first, { ...second, errors: 3, error: 'The lease was lost.' }];
    expect(figuresOf(evidence({ finalCount: 4, counted }))).toMatchObject({
      lostUpdates: 3,
      errors: 3,
      error: 'The lease was lost.',
    });
  });

  test('a lock that let nobody in has a rate of 0 and no other figure', () => {
    const counted = [{ ...first, sections: 0, waits: [], enteredAt: [] }];
    const count = { count: 0, commands: 9, cpu: { redis: 5 } };
    expect(figuresOf(evidence({ counted, before: count, after: count, finalCount: 0 }))).toEqual({
      perSecond: 0,
      cpuMicros: {},
      sections: 0,
      lostUpdates: 0,
      starved: 0,
      errors: 0,
    });
  });
});

test('ideal wait: each has asked when the one after its last turn entered; a queue that stumbles is not unfair', () => {
  const enteredAt = [...Array.from({ length: 100 }, (_, i) => i), ...Array.from({ length: 100 }, (_, i) => 150 + i)];

  // In order: 50, 70, 90, then those of the window: 110, 120, 160, 180. The first four of them all ask again.
  expect(idealWaitsMs(4, [first, second])).toEqual([50, 60, 70, 70]);
  expect(quantile(idealWaitsMs(11, [{ enteredAt, measuredFrom: 0 }]), 0.99)).toBe(60);
  // Without enough turns before nobody knows.
  expect(idealWaitsMs(8, [first, second])).toEqual([]);
});

test('quantile and spread: the lowest value that so many do not exceed; the median, the lowest and the highest', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  const own = [turn(1, 'fair', { perSecond: 5 }), turn(2, 'fair', { perSecond: 7 })];
  const turns = [...own, turn(1, 'fair', {}, 10), turn(1, 'cohort')];

  expect([0.5, 0.99, 1].map((share) => quantile(hundred, share))).toEqual([50, 99, 100]);
  expect(quantile([7], 0.99)).toBe(7);
  expect(spreadOf([3, 1, 2])).toEqual({ value: 2, min: 1, max: 3 });
  expect(spreadOf([4, 1, 2, 3])).toEqual({ value: 2.5, min: 1, max: 4 });
  expect(spreadOf([])).toBeUndefined();
  expect(spreadOver(turns, 'fair', 100, ({ perSecond }) => perSecond)).toEqual({ value: 6, min: 5, max: 7 });
  expect(spreadOver(turns, 'fair', 1_000, ({ perSecond }) => perSecond)).toBeUndefined();
});

describe('ratios', () => {
  const rates = (own: Record<string, [kind: 'ceiling' | 'ours' | 'peer', perSecond: number]>, waiters = 100) => ({
    contestants: Object.entries(own).map(([name, [kind]]) => ({ name, kind })),
    turns: Object.entries(own).map(([name, [, perSecond]]) => turn(1, name, { perSecond }, waiters)),
  });

  test('each is taken within a round, then over the rounds; a round without its lock does not count', () => {
    const { ratios } = sampleBench();
    expect(ratios['cohort/ceiling@100']).toEqual({ value: 0.92, min: 0.8, max: 0.95 });
    expect(ratios['best/peer@100']).toEqual({ value: (4.6 + 3) / 2, min: 3, max: 4.6 });
    expect(ratios['cohort/commands@100']).toEqual({ value: 2.1, min: 2.1, max: 2.2 });
    expect(ratios['cohort/handover@100']).toEqual({ value: 0.8, min: 0.8, max: 0.8 });
    // What was not measured is absent.
    expect(Object.keys(ratios)).toHaveLength(5);
  });

  test('more nodes: the rate of each lock is compared with its own on the fewest', () => {
    const own = rates({
      'a×2': ['ours', 600],
      'a×8': ['ours', 150],
      'b×2': ['ours', 60],
      'b×8': ['ours', 90],
      c: ['ours', 1],
    });
    const ratios = Object.entries(ratiosOf({ mode: 'http', ...own })).map(([name, { value }]) => [name, value]);
    expect(ratios).toEqual([
      ['a×8/a×2@100', 0.25],
      ['b×8/b×2@100', 1.5],
    ]);
  });

  test('over HTTP: the CPU time of the nodes is compared with that of the service written by hand, round by round', () => {
    const at = (round: number, name: string, processes: number) => turn(round, name, { cpuMicros: { processes } });
    const turns = [at(1, 'by-hand', 100), at(1, 'cohort', 300), at(2, 'by-hand', 200), at(2, 'cohort', 400)];
    const contestants = [{ name: 'cohort', kind: 'ours' as const }];
    expect(ratiosOf({ mode: 'http', turns, contestants })).toEqual({
      'cohort/by-hand@100': { value: 2.5, min: 2, max: 3 },
    });
  });

  test("a lock that lost updates is nobody's best, of ours or of the published ones", () => {
    const run = rates({ a: ['ours', 600], b: ['ours', 9_000], 'peer:p': ['peer', 200], 'peer:q': ['peer', 9_000] });
    for (const turn of run.turns) {
      if (turn.figures && ['b', 'peer:q'].includes(turn.name)) turn.figures.lostUpdates = 1;
    }
    expect(ratiosOf({ mode: 'locks', ...run })['best/peer@100']?.value).toBe(3);
  });
});
