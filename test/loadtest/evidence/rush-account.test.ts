import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SoldAnswer } from '../../../loadtest/evidence/answers.ts';
import { holdsOf } from '../../../loadtest/evidence/history.ts';
import { findLostUpdates } from '../../../loadtest/evidence/lost-updates.ts';
import { countOverlaps } from '../../../loadtest/evidence/overlaps.ts';
import type { Verdict } from '../../../loadtest/evidence/results.ts';
import { type Evidence, freeWitnesses, judge, measure } from '../../../loadtest/evidence/rush-account.ts';
import type { NodeState, SaleEvent } from '../../../services/inventory/lab/contract.ts';

const NODES = ['node-1', 'node-2'];
const RUNS = { seed: 1, numRuns: 200 };

/** One sale of a generated history: where it runs, and whether the next one reads before this one has written. */
interface Step {
  node: string;
  isOverlapped: boolean;
}

/**
 * Plays a history against a stock, as the service would: each sale reads, then writes one less. Where `isOverlapped`, the
 * next sale reads before this one writes, so one of the two is lost.
 */
function play(steps: Step[], initialStock: number): Evidence {
  const events: SaleEvent[] = [];
  const sold: SoldAnswer[] = [];
  let stock = initialStock;
  let clock = 0;
  const now = () => {
    clock += 1;
    return clock;
  };
  const record = (type: SaleEvent['type'], node: string, saleId: string, stock?: number) =>
    events.push({ at: now(), type, node, saleId, ...(stock !== undefined && { stock }) });

  const ids = steps.map((_, index) => String(index + 1).padStart(4, '0'));
  // Everybody asks at the start, so that all are under way together.
  steps.forEach(({ node }, index) => {
    record('waiting', node, ids[index] ?? '');
  });

  let pending: { node: string; saleId: string; stockBefore: number } | undefined;
  const finish = ({ node, saleId, stockBefore }: NonNullable<typeof pending>) => {
    stock = stockBefore - 1;
    record('wrote', node, saleId, stock);
    record('left', node, saleId);
    sold.push({ outcome: 'sold', node, saleId, stockBefore, remaining: stock, latencyMs: 1 });
  };
  steps.forEach(({ node, isOverlapped }, index) => {
    const saleId = ids[index] ?? '';
    record('entered', node, saleId);
    record('read', node, saleId, stock);
    const sale = { node, saleId, stockBefore: stock };
    if (pending) finish(pending);
    pending = undefined;
    if (isOverlapped && index < steps.length - 1) pending = sale;
    else finish(sale);
  });

  const nodes = NODES.map(
    (node): NodeState => ({
      ...{ node, port: 1, pid: 1, lock: '1-in-process', instance: node, leaseMs: 30_000, retryDelayMs: 20 },
      ...{ waitTimeoutMs: 10_000, inFlight: 0, held: 0, waiting: 0, unreleased: 0 },
      counts: {
        received: steps.filter((step) => step.node === node).length,
        sold: steps.filter((step) => step.node === node).length,
        ...{ soldOut: 0, lockTimeout: 0, clientGone: 0, failed: 0, inDoubt: 0 },
      },
    }),
  );
  return {
    tally: {
      ...{ sent: steps.length, answers: steps.length, errors: 0, sold, soldOut: 0, lockTimeout: 0, failed: 0 },
      ...{ indefinite: 0, nonsense: 0, nonsenseSample: '', durationMs: 1000, isCapped: false },
    },
    ...{ requests: steps.length, initialStock, finalStock: stock, nodes, sellers: NODES, events, dropped: 0 },
    ...{ redisCommands: 2 * steps.length, standstills: [], freeLimitMs: 2_000, capMs: 60_000 },
  };
}

const verdictOf = (evidence: Evidence) => judge(evidence, measure(evidence)).verdict;

const node = fc.constantFrom(...NODES);
const cleanStep = fc.record({ node, isOverlapped: fc.constant(false) });
const anyStep = fc.record({ node, isOverlapped: fc.boolean() });
/** Both nodes sell in every history. */
const stepsOf = (step: fc.Arbitrary<Step>) =>
  fc
    .array(step, { minLength: 1, maxLength: 30 })
    .map((steps) => [...NODES.map((node) => ({ node, isOverlapped: false })), ...steps]);

describe('account of a rush: generated histories', () => {
  test('a history without a fault is never accused', () => {
    fc.assert(
      fc.property(stepsOf(cleanStep), fc.nat(1000), (steps, spare) => {
        const evidence = play(steps, steps.length + spare);
        const figures = measure(evidence);
        expect(judge(evidence, figures).verdict).toBe('pass');
        expect(figures).toMatchObject({ lostUpdates: 0, oversold: 0, overlaps: 0 });
        expect(findLostUpdates(evidence.tally.sold)).toEqual([]);
      }),
      RUNS,
    );
  });

  test('every lost sale is caught, counted and witnessed', () => {
    const faulty = stepsOf(anyStep).filter((steps) => steps.slice(0, -1).some(({ isOverlapped }) => isOverlapped));
    fc.assert(
      fc.property(faulty, (steps) => {
        const evidence = play(steps, steps.length);
        const figures = measure(evidence);
        const faults = steps.slice(0, -1).filter(({ isOverlapped }) => isOverlapped).length;
        expect(judge(evidence, figures).verdict).toBe('fail');
        expect(figures.overlaps).toBe(faults);
        const groups = findLostUpdates(evidence.tally.sold);
        expect(groups.length).toBeGreaterThan(0);
        for (const { stockBefore, sales } of groups) {
          const readers = evidence.events.filter(({ type, stock }) => type === 'read' && stock === stockBefore);
          expect(readers.map(({ saleId }) => saleId)).toEqual(
            expect.arrayContaining(sales.map(({ saleId }) => saleId)),
          );
        }
      }),
      RUNS,
    );
  });

  test('an account that does not close is unknown, whatever else is true', () => {
    type Spoil = (evidence: Evidence) => Partial<Evidence>;
    const inTally =
      (change: (tally: Evidence['tally']) => Partial<Evidence['tally']>): Spoil =>
      ({ tally }) => ({ tally: { ...tally, ...change(tally) } });
    const inNodes =
      (change: (state: NodeState) => Partial<NodeState>): Spoil =>
      ({ nodes }) => ({ nodes: nodes.map((state) => ({ ...state, ...change(state) })) });
    const spoil = fc.constantFrom<Spoil>(
      inTally(({ sent }) => ({ sent: sent + 1 })),
      inTally(({ answers }) => ({ answers: answers - 1 })),
      inTally(({ errors }) => ({ errors: errors + 1 })),
      inTally(({ nonsense }) => ({ nonsense: nonsense + 1 })),
      inTally(({ sold }) => ({ sold: sold.slice(1) })),
      inTally(({ failed }) => ({ failed: failed + 1 })),
      inNodes(({ counts }) => ({ counts: { ...counts, received: counts.received + 1 } })),
      inNodes(({ counts }) => ({ counts: { ...counts, sold: counts.sold + 1 } })),
      inNodes(() => ({ inFlight: 1 })),
      ({ requests }) => ({ requests: requests + 1 }),
      () => ({ dropped: 1 }),
      ({ finalStock }) => ({ finalStock: finalStock - 1000 }),
      ({ events }) => ({ events: events.filter(({ type }) => type !== 'wrote') }),
      () => ({ sellers: [...NODES, 'node-3'] }),
    );
    fc.assert(
      fc.property(stepsOf(anyStep), spoil, (steps, spoilIt) => {
        const evidence = play(steps, steps.length);
        expect(verdictOf({ ...evidence, ...spoilIt(evidence) })).toBe('unknown');
      }),
      RUNS,
    );
  });

  /** A copy of the history in which some clients never got an answer. */
  function cutOff(evidence: Evidence, isCutOff: boolean[]): Evidence {
    const { tally } = evidence;
    const sold = tally.sold.filter((_, index) => !isCutOff[index]);
    const missing = tally.sold.length - sold.length;
    return { ...evidence, tally: { ...tally, sold, answers: tally.answers - missing, errors: missing } };
  }
  const cuts = fc.array(fc.boolean(), { minLength: 32, maxLength: 32 });

  test('sales without an answer: what was sold lies between the answered ones and all; a clean history is unknown', () => {
    fc.assert(
      fc.property(stepsOf(cleanStep), cuts, (steps, isCutOff) => {
        const evidence = cutOff(play(steps, steps.length), isCutOff);
        const figures = measure(evidence);
        const fall = evidence.initialStock - evidence.finalStock;
        expect(fall).toBeGreaterThanOrEqual(figures.sold);
        expect(fall).toBeLessThanOrEqual(figures.sold + figures.inDoubt);
        expect(figures.lostUpdates).toBeLessThanOrEqual(0);
        expect(judge(evidence, figures).verdict).toBe(figures.inDoubt > 0 ? 'unknown' : 'pass');
      }),
      RUNS,
    );
  });

  test('a lost sale is never passed over, whichever clients got no answer', () => {
    const faulty = stepsOf(anyStep).filter((steps) => steps.slice(0, -1).some(({ isOverlapped }) => isOverlapped));
    fc.assert(
      fc.property(faulty, cuts, (steps, isCutOff) => {
        expect(verdictOf(cutOff(play(steps, steps.length), isCutOff))).not.toBe('pass');
      }),
      RUNS,
    );
  });
});

const step = (node: string, isOverlapped = false): Step => ({ node, isOverlapped });

/** Two sales, one on each node, with changes: in the counts of each node, too. */
function twoSales(
  more: Partial<Evidence> = {},
  tally: Partial<Evidence['tally']> = {},
  counts: Partial<NodeState['counts']>[] = [],
): Evidence {
  const evidence = play([step('node-1'), step('node-2')], 2);
  const nodes = evidence.nodes.map((state, at) => ({ ...state, counts: { ...state.counts, ...counts[at] } }));
  return { ...evidence, nodes, ...more, tally: { ...evidence.tally, ...tally } };
}

/** Everything from the second sale on comes so much later. */
function heldUp(evidence: Evidence, laterMs: number): Evidence {
  const entered = evidence.events.findLast(({ type }) => type === 'entered')?.at ?? 0;
  const events = evidence.events.map((event) => (event.at < entered ? event : { ...event, at: event.at + laterMs }));
  return { ...evidence, events };
}

/** So many more came to the first node, and were refused. */
const refusing = (lockTimeout: number) => {
  const all = 2 + lockTimeout;
  return twoSales({ requests: all }, { sent: all, answers: all, lockTimeout }, [
    { received: 1 + lockTimeout, lockTimeout },
  ]);
};
const { events } = twoSales();
const saleOf = (id: string) => events.filter(({ saleId }) => saleId === id);
const FREE = 'For 2.5 s nobody held the lock although sales waited.';
const LATE = 'After 1 min 2 of 9 sales were answered: no load may take longer.';
const failed = { received: 10, failed: 9 };
const none = { sold: 0, lockTimeout: 1 };

test.each<[string, Evidence, Verdict, string[]?]>([
  [
    'final stock alone: twice the units are sold, and the stock looks right',
    play([step('node-1', true), step('node-2')], 1),
    'fail',
    [
      'The stock is 0 instead of −1: 1 sale lost.',
      '2 units sold of 1: 1 too many.',
      'Two holders inside at the same moment: 1 time.',
    ],
  ],
  [
    'nothing sold',
    twoSales({ finalStock: 2, events: [] }, { sold: [], lockTimeout: 2 }, [none, none]),
    'unknown',
    [
      '2 of 2 sales were refused, because the lock was not free in time.',
      'Nothing was sold.',
      'Nothing was sold by node-1 and node-2.',
    ],
  ],
  ['a unit too many in stock, and no two sales read the same', twoSales({ finalStock: 1 }), 'unknown'],
  [
    'a lock that fails nearly every sale, though the few it let through add up',
    twoSales({ requests: 20 }, { sent: 20, answers: 20, failed: 18 }, [failed, failed]),
    'unknown',
    ['18 sales failed, and no fault explains it: the log of the nodes may.'],
  ],
  ['as many refused as answered', refusing(2), 'pass'],
  ['more refused than answered', refusing(3), 'unknown'],
  [
    'a lock that is free for too long while a sale waits, though none is lost',
    heldUp(twoSales(), 2_500),
    'fail',
    [FREE],
  ],
  ['a lock that is free for a little less', heldUp(twoSales(), 1_900), 'pass'],
  [
    'a lock that is free while the machine stands still: that time does not count',
    { ...heldUp(twoSales(), 2_500), standstills: [{ from: 100, until: 900 }] },
    'pass',
  ],
  [
    'a lock that is free for too long and refuses most sales',
    heldUp(twoSales({ requests: 7 }, { sent: 7, answers: 7, lockTimeout: 5 }), 2_500),
    'fail',
    [`${FREE} 5 of 7 were refused.`],
  ],
  ['a load that takes too long', twoSales({ requests: 9 }, { isCapped: true }), 'unknown', [LATE]],
  ['one with a fault that is seen', heldUp(twoSales({ requests: 9 }, { isCapped: true }), 2_500), 'fail', [FREE, LATE]],
  [
    'sales that never met: no lock was needed',
    twoSales({ events: [...saleOf('0001'), ...saleOf('0002')].map((event, at) => ({ ...event, at })) }),
    'unknown',
  ],
  [
    'a sale in doubt that no fault explains',
    twoSales({ requests: 3 }, { sent: 3, answers: 3, indefinite: 1 }, [{ received: 2, inDoubt: 1 }]),
    'unknown',
    ['1 sale in doubt, and no fault explains it.'],
  ],
])('account of a rush, a single case: %s', (_what, evidence, verdict, reasons) => {
  const judged = judge(evidence, measure(evidence));

  expect(judged.verdict).toBe(verdict);
  if (reasons !== undefined) expect(judged.reasons).toEqual(reasons);
});

describe('account of a rush: figures', () => {
  test('oversold, lost, and free for how long, a standstill left out', () => {
    const oversold = measure(play([step('node-1', true), step('node-2')], 1));
    const standstills = [{ from: 100, until: 900 }];

    expect(oversold).toMatchObject({ finalStock: 0, expectedStock: -1, oversold: 1, lostUpdates: 1 });
    expect(measure(heldUp(twoSales(), 2_500)).longestFreeMs).toBeCloseTo(2_501, -1);
    expect(measure({ ...heldUp(twoSales(), 2_500), standstills }).longestFreeMs).toBeCloseTo(1_701, -1);
  });

  test('witnesses of a lock that was free: from when until when, and who waited, where it was too long', () => {
    const tooLong = heldUp(twoSales(), 2_500);

    expect(freeWitnesses(tooLong, measure(tooLong))).toEqual([
      'From 0.005 s to 2.506 s nobody was inside, and sale 0002 on node-2 waited.',
    ]);
    expect(freeWitnesses(twoSales(), measure(twoSales()))).toEqual([]);
  });

  test('a count of Redis commands that went down is none, and of dropped events no overlaps are measured', () => {
    expect(measure(twoSales({ redisCommands: -5 }))).not.toHaveProperty('redisCommandsPerSale');
    expect(measure(twoSales({ dropped: 5 }))).not.toHaveProperty('overlaps');
  });

  test('a holder that never left overlaps everyone after it', () => {
    const events: SaleEvent[] = [
      { at: 1, type: 'entered', node: 'node-1', saleId: '0001' },
      { at: 5, type: 'entered', node: 'node-2', saleId: '0001' },
      { at: 6, type: 'left', node: 'node-2', saleId: '0001' },
    ];
    expect(countOverlaps(holdsOf(events))).toBe(1);
  });

  test('latency: nearest-rank percentiles of the successful sales', () => {
    const evidence = play(
      Array.from({ length: 100 }, (_, at) => step(NODES[at % 2] ?? '')),
      100,
    );
    for (const [at, sale] of evidence.tally.sold.entries()) sale.latencyMs = 100 - at;
    expect(measure(evidence).latencyMs).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
  });
});
