import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../../loadtest/evidence/results.ts';
import {
  type Evidence,
  freeEvidence,
  judge,
  judgeByAnswers,
  measure,
} from '../../../loadtest/evidence/rush-account.ts';
import { described } from '../../../loadtest/narration/evidence.ts';
import type { NodeState, SaleEvent } from '../../../services/inventory/sale/contract.ts';

const NODES = ['node-1', 'node-2'];
const RUNS = { seed: 1, numRuns: 200 };

/** One sale of a history: where it runs, and whether the next one reads before this one has written, so that one is lost. */
interface Step {
  node: string;
  isOverlapped: boolean;
}
const step = (node: string, isOverlapped = false): Step => ({ node, isOverlapped });

/** Plays a history against a stock, as the service would: all ask at the start, and each sale reads, then writes one less. */
function play(steps: Step[], initialStock: number): Evidence {
  const events: SaleEvent[] = [];
  const sold: Evidence['tally']['sold'] = [];
  let stock = initialStock;
  const record = (type: SaleEvent['type'], { node }: Step, saleId: string, stock?: number) =>
    events.push({ at: events.length + 1, type, node, saleId, ...(stock !== undefined && { stock }) });
  const idOf = (index: number) => String(index + 1).padStart(4, '0');
  for (const [index, step] of steps.entries()) record('waiting', step, idOf(index));

  let finishPending = () => {};
  for (const [index, step] of steps.entries()) {
    const saleId = idOf(index);
    const stockBefore = stock;
    record('entered', step, saleId);
    record('read', step, saleId, stock);
    finishPending();
    const finish = () => {
      stock = stockBefore - 1;
      record('wrote', step, saleId, stock);
      record('left', step, saleId);
      const sale = { outcome: 'sold' as const, node: step.node, saleId, stockBefore, remaining: stock };
      sold.push({ sale, latencyMs: 1 });
      finishPending = () => {};
    };
    finishPending = finish;
    if (!step.isOverlapped || index === steps.length - 1) finish();
  }

  const nodes = NODES.map((node): NodeState => {
    const count = steps.filter((step) => step.node === node).length;
    return {
      ...{ node, port: 1, pid: 1, lock: '1-in-process', instance: node, leaseMs: 30_000, retryDelayMs: 20 },
      ...{ renewEveryMs: 10_000, scope: 'sku', waitTimeoutMs: 10_000, permits: 1 },
      ...{ inFlight: 0, held: 0, waiting: 0, unreleased: 0 },
      counts: { received: count, sold: count, soldOut: 0, lockTimeout: 0, clientGone: 0, failed: 0, inDoubt: 0 },
    };
  });
  return {
    tally: {
      ...{ sent: steps.length, answers: steps.length, errors: 0, sold, soldOut: 0, lockTimeout: 0, failed: 0 },
      ...{ indefinite: 0, nonsense: 0, samples: {}, durationMs: 1000, isCapped: false },
    },
    ...{ requests: steps.length, initialStock, finalStock: stock, nodes, sellers: NODES, events, dropped: 0 },
    ...{ redisCommands: 2 * steps.length, standstills: [], freeLimitMs: 2_000, capMs: 60_000 },
  };
}

const verdictOf = (evidence: Evidence) => judge(evidence, measure(evidence)).verdict;

describe('account of a rush: generated histories', () => {
  const stepOf = (isOverlapped: fc.Arbitrary<boolean>) => fc.record({ node: fc.constantFrom(...NODES), isOverlapped });
  /** Both nodes sell in every history. */
  const stepsOf = (step: fc.Arbitrary<Step>) =>
    fc
      .array(step, { minLength: 1, maxLength: 30 })
      .map((steps) => [...NODES.map((node) => ({ node, isOverlapped: false })), ...steps]);
  const clean = stepsOf(stepOf(fc.constant(false)));
  const lostOf = (steps: Step[]) => steps.slice(0, -1).filter(({ isOverlapped }) => isOverlapped).length;
  const faulty = stepsOf(stepOf(fc.boolean())).filter((steps) => lostOf(steps) > 0);

  test('a history without a fault is never accused', () => {
    fc.assert(
      fc.property(clean, fc.nat(1000), (steps, spare) => {
        const evidence = play(steps, steps.length + spare);
        expect(verdictOf(evidence)).toBe('pass');
        expect(measure(evidence)).toMatchObject({ lostUpdates: 0, oversold: 0, overlaps: 0 });
      }),
      RUNS,
    );
  });

  test('every lost sale is caught and counted', () => {
    fc.assert(
      fc.property(faulty, (steps) => {
        const evidence = play(steps, steps.length);
        expect(verdictOf(evidence)).toBe('fail');
        expect(measure(evidence).overlaps).toBe(lostOf(steps));
      }),
      RUNS,
    );
  });
});

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
const { events, tally, nodes } = twoSales();

test('account of a rush: two sales, one on each node, that add up', () => {
  expect(verdictOf(twoSales())).toBe('pass');
});

test.each<[string, Evidence]>([
  ['more was sent than was counted', twoSales({}, { sent: 3 })],
  ['a request has failed', twoSales({}, { errors: 1 })],
  ['an answer made no sense', twoSales({}, { nonsense: 1 })],
  ['a sale is missing', twoSales({}, { sold: tally.sold.slice(1) })],
  ['a node counted a sale more', twoSales({}, {}, [{ sold: 2 }])],
  ['a sale is under way', twoSales({ nodes: nodes.map((node) => ({ ...node, inFlight: 1 })) })],
  ['events were forgotten', twoSales({ dropped: 1 })],
  ['units are gone that no sale explains', twoSales({ finalStock: -1 })],
  ['a write was not recorded', twoSales({ events: events.filter(({ type }) => type !== 'wrote') })],
  ['a node sold nothing', twoSales({ sellers: [...NODES, 'node-3'] })],
])('account of a rush that does not close: %s', (_what, evidence) => {
  expect(verdictOf(evidence)).toBe('unknown');
});

/** Everything from the second sale on comes so much later. */
function heldUp(evidence: Evidence, laterMs: number): Evidence {
  const entered = evidence.events.findLast(({ type }) => type === 'entered')?.at ?? 0;
  const events = evidence.events.map((event) => (event.at < entered ? event : { ...event, at: event.at + laterMs }));
  return { ...evidence, events };
}
/** So many more came to the first node, and were refused. */
const refusing = (lockTimeout: number) => {
  const all = 2 + lockTimeout;
  const counts = { received: 1 + lockTimeout, lockTimeout };
  return twoSales({ requests: all }, { sent: all, answers: all, lockTimeout }, [counts]);
};
const saleOf = (id: string) => events.filter(({ saleId }) => saleId === id);
const FREE = 'For 2.5 s nobody held the lock although sales waited.';
const LATE = 'After 1 min 2 of 9 sales were answered: no load may take longer.';
const failed = { received: 10, failed: 9 };
const none = { sold: 0, lockTimeout: 1 };
const standstills = [{ from: 100, until: 900 }];

test.each<[string, Evidence, Verdict, string[]?]>([
  [
    'final stock alone: twice the units are sold, and the stock looks right',
    play([step('node-1', true), step('node-2')], 1),
    'fail',
    ['2 sold of 1 · stock 0 · 1 oversold.', 'Two holders inside at the same moment: 1 time.'],
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
    ['18 sales failed, and no fault explains it: LOG_LEVEL=info shows the log of the nodes.'],
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
  ['free while the machine stands still: that does not count', { ...heldUp(twoSales(), 2_500), standstills }, 'pass'],
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

/** Four requests to nodes that tell nothing, of a shop that had ten units: those of the answers say sold, and so many are left. */
function byAnswers(sold: number, finalStock: number, more: Partial<Evidence['tally']> = {}, initialStock = 10) {
  const sales = Array.from({ length: sold }, () => ({ latencyMs: 1 }));
  const writes = [{ sold: sold - 1 }, { sold: 1 }];
  const changes = { requests: 4, initialStock, finalStock, events: [] };
  return twoSales(changes, { sent: 4, answers: 4, sold: sales, ...more }, writes);
}
const oops = { indefinite: 1, samples: { inDoubt: '500 oops' } };
/** The second node has written nothing. */
const unwritten = (evidence: Evidence): Evidence => {
  const [first, second] = evidence.nodes as [NodeState, NodeState];
  return { ...evidence, nodes: [first, { ...second, counts: { ...second.counts, sold: 0 } }] };
};

test.each<[string, Evidence, Verdict, string[]]>([
  ['all that adds up', byAnswers(4, 6), 'pass', ['4 sold · stock 6, as expected · none sold twice.']],
  ['an empty shop', byAnswers(2, 0, { soldOut: 2 }, 2), 'pass', ['2 sold · stock 0, as expected · none sold twice.']],
  [
    'one that got no unit, and was told so',
    byAnswers(3, 7, { ...oops }),
    'pass',
    ['3 sold · stock 7, as expected · none sold twice.', '1 were answered otherwise, such as "500 oops".'],
  ],
  [
    'two that were not let in',
    byAnswers(2, 8, { lockTimeout: 2, samples: { lockTimeout: '503 busy' } }),
    'pass',
    ['2 sold · stock 8, as expected · none sold twice.', '2 were answered otherwise, such as "503 busy".'],
  ],
  ['a lost unit', byAnswers(4, 7), 'fail', ['4 sold · stock 7, expected 6 · 1 sold twice.']],
  [
    'a lost unit, whatever else was answered, and though not all was',
    byAnswers(2, 9, { ...oops, answers: 3, errors: 1, isCapped: true }),
    'fail',
    ['2 sold · stock 9, expected 8 · 1 sold twice.', '1 were answered otherwise, such as "500 oops".'],
  ],
  ['more sold than there were', byAnswers(4, 0, {}, 3), 'fail', ['4 sold of 3 · stock 0 · 1 oversold.']],
  [
    'a stock below zero, though nobody was told that he has it',
    byAnswers(2, -2, { soldOut: 2 }, 2),
    'fail',
    ['The stock is -2: more was taken than there was.'],
  ],
  [
    'units that went to nobody',
    byAnswers(3, 6, { ...oops }),
    'fail',
    ['1 unit went to nobody: 3 answers say sold, and 4 units are gone. Others were answered "500 oops".'],
  ],
  [
    'a unit that may have gone to one who has no answer',
    byAnswers(3, 6, { answers: 3, errors: 1 }),
    'unknown',
    ['1 sale in doubt, and no fault explains it.'],
  ],
  [
    'more units than those without an answer explain',
    byAnswers(2, 6, { answers: 3, errors: 1, ...oops }),
    'fail',
    ['2 units went to nobody: 2 answers say sold, and 4 units are gone. Others were answered "500 oops".'],
  ],
  [
    'one without an answer, and no unit',
    byAnswers(3, 7, { answers: 3, errors: 1 }),
    'pass',
    ['3 sold · stock 7, as expected · none sold twice.'],
  ],
  [
    'a load that takes too long',
    byAnswers(3, 7, { answers: 3, isCapped: true }),
    'unknown',
    ['After 1 min 3 of 4 sales were answered: no load may take longer.'],
  ],
  [
    'a load that was not sent whole',
    byAnswers(3, 7, { sent: 3, answers: 3 }),
    'unknown',
    ['3 requests were sent, not 4.'],
  ],
  [
    'nothing sold',
    byAnswers(0, 10, { indefinite: 4, samples: { inDoubt: '401 who are you?' } }),
    'unknown',
    ['Nothing was sold.', '4 were answered otherwise, such as "401 who are you?".'],
  ],
  ['a copy that sold nothing', unwritten(byAnswers(4, 6)), 'unknown', ['Nothing was sold by node-2.']],
  [
    'a buyer for whom nothing was written',
    unwritten(byAnswers(4, 7)),
    'fail',
    ['4 sold · stock 7, expected 6 · 1 sold twice.', '1 buyer was told of a unit that no write took from the stock.'],
  ],
])('account of a rush by its answers alone: %s', (_what, evidence, verdict, reasons) => {
  expect(judgeByAnswers(evidence, measure(evidence))).toMatchObject({ verdict, reasons });
});

describe('account of a rush: figures', () => {
  test('oversold and lost', () => {
    const oversold = measure(play([step('node-1', true), step('node-2')], 1));
    expect(oversold).toMatchObject({ finalStock: 0, expectedStock: -1, oversold: 1, lostUpdates: 1 });
  });

  test('free for how long, a standstill left out, and who waited, where it was too long', () => {
    const tooLong = heldUp(twoSales(), 2_500);

    expect(measure(tooLong).longestFreeMs).toBe(2_501);
    expect(measure({ ...tooLong, standstills }).longestFreeMs).toBe(1_701);
    expect(freeEvidence(tooLong, measure(tooLong)).map(described)).toEqual([
      'From 0.005 s to 2.506 s nobody was inside, although sale 0002 on node-2 waited',
    ]);
    expect(freeEvidence(twoSales(), measure(twoSales()))).toEqual([]);
  });

  test('latency: nearest-rank percentiles of the successful sales', () => {
    const [sale] = tally.sold;
    const sold = Array.from({ length: 100 }, (_, at) => ({ ...sale, latencyMs: 100 - at })) as typeof tally.sold;
    expect(measure(twoSales({}, { sold })).latencyMs).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
  });
});
