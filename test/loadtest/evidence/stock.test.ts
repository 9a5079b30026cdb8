import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SaleEnd } from '../../../loadtest/evidence/answers.ts';
import type { StepHistory } from '../../../loadtest/evidence/history.ts';
import { NotStagedError } from '../../../loadtest/evidence/not-staged.ts';
import { overlapsOf } from '../../../loadtest/evidence/overlaps.ts';
import { readStock, stockOverTime } from '../../../loadtest/evidence/stock.ts';
import type { SaleEvent } from '../../../services/inventory/lab/contract.ts';

const RUNS = { seed: 1, numRuns: 200 };

/**
 * How a sale of a generated history ends. `noted`: it took place, its node recorded the write, and its answer does not say.
 * `unnoted`: Redis took the write, and nobody heard of it. `lost on the way`: no write, and nobody knows. `refused`: no write,
 * and its client knows.
 */
type Ending = 'answered' | 'noted' | 'unnoted' | 'lost on the way' | 'refused';

interface Step {
  node: string;
  ending: Ending;
  /** What the client of a sale in doubt, or of one that was refused, was answered. */
  answered: SaleEnd['outcome'];
  /** So many of the next sales read and write between this one's read and its write. 0: it is alone. */
  overtakenBy: number;
}

interface History extends StepHistory {
  /** Writes that reached Redis. */
  writes: number;
  /** Units that have gone from the stock. */
  fall: number;
  /** The sales that wrote what they had read before others wrote: who, and who read the same stock right after. */
  stale: { step: Step; saleId: string; next?: { step: Step; saleId: string } | undefined }[];
}

const isWritten = ({ ending }: Step) => ending === 'answered' || ending === 'noted' || ending === 'unnoted';
const isNoted = ({ ending }: Step) => ending === 'answered' || ending === 'noted';
const isInDoubt = ({ ending }: Step) => ending === 'noted' || ending === 'unnoted' || ending === 'lost on the way';

/** Plays sales one after the other, as the service would, with stale writers where a step is overtaken. */
function play(steps: Step[], startedAt: number): History {
  const initialStock = steps.length;
  const ends: SaleEnd[] = [];
  const events: SaleEvent[] = [];
  const stale: History['stale'] = [];
  let stock = initialStock;
  let clock = startedAt;
  let writes = 0;
  const record = (type: SaleEvent['type'], { node }: Step, saleId: string, stock?: number) => {
    clock += 1;
    events.push({ at: clock, type, node, saleId, ...(stock !== undefined && { stock }) });
  };

  function read(step: Step, saleId: string) {
    for (const type of ['waiting', 'entered'] as const) record(type, step, saleId);
    record('read', step, saleId, stock);
    return { step, saleId, stockBefore: stock };
  }

  function finish({ step, saleId, stockBefore }: ReturnType<typeof read>) {
    const { node, ending, answered } = step;
    const remaining = stockBefore - 1;
    if (isWritten(step)) {
      stock = remaining;
      writes += 1;
    }
    if (isNoted(step)) record('wrote', step, saleId, remaining);
    record('left', step, saleId);
    const sale = { outcome: 'sold' as const, saleId, node, stockBefore, remaining };
    ends.push({
      ...(ending === 'answered' ? { outcome: 'sold', sale } : { outcome: answered }),
      sentAt: clock,
      ms: 1,
    } as SaleEnd);
  }

  let pending: { sale: ReturnType<typeof read>; left: number } | undefined;
  steps.forEach((step, index) => {
    const saleId = String(index + 1).padStart(4, '0');
    const sale = read(step, saleId);
    if (pending === undefined && isWritten(step) && step.overtakenBy > 0 && index < steps.length - 1) {
      pending = { sale, left: step.overtakenBy };
      stale.push({ step, saleId });
      return;
    }
    finish(sale);
    if (pending === undefined) return;
    const last = stale.at(-1);
    if (last) last.next ??= { step, saleId };
    pending.left -= 1;
    if (pending.left > 0 && index < steps.length - 1) return;
    finish(pending.sale);
    pending = undefined;
  });
  return { ends, events, initialStock, finalStock: stock, startedAt, writes, fall: initialStock - stock, stale };
}

const answerOf: Record<Ending, fc.Arbitrary<SaleEnd['outcome']>> = {
  answered: fc.constant('sold'),
  noted: fc.constantFrom('inDoubt', 'cutOff', 'nonsense'),
  unnoted: fc.constantFrom('inDoubt', 'cutOff', 'nonsense'),
  'lost on the way': fc.constantFrom('inDoubt', 'cutOff', 'nonsense'),
  refused: fc.constantFrom('soldOut', 'lockTimeout', 'failed'),
};
const allEndings = Object.keys(answerOf) as Ending[];

const stepOf = (endings: Ending[], overtakenBy: fc.Arbitrary<number>): fc.Arbitrary<Step> =>
  fc.constantFrom(...endings).chain((ending) =>
    fc.record({
      node: fc.constantFrom('node-1', 'node-2'),
      ending: fc.constant(ending),
      answered: answerOf[ending],
      overtakenBy,
    }),
  );
const alone = fc.constant(0);
const perhapsOvertaken = fc.oneof({ weight: 3, arbitrary: alone }, fc.integer({ min: 1, max: 4 }));
const stepsOf = (step: fc.Arbitrary<Step>) => fc.array(step, { minLength: 1, maxLength: 14 });
const historyOf = (steps: fc.Arbitrary<Step[]>) => fc.tuple(steps, fc.nat(1_000_000)).map(([s, at]) => play(s, at));

const cleanHistory = historyOf(stepsOf(stepOf(allEndings, alone)));
const anyHistory = historyOf(stepsOf(stepOf(allEndings, perhapsOvertaken)));
const inDoubtOf = ({ ends }: History) =>
  ends.filter(({ outcome }) => outcome === 'inDoubt' || outcome === 'cutOff' || outcome === 'nonsense').length;
const answeredOf = ({ ends }: History) => ends.filter(({ outcome }) => outcome === 'sold').length;

describe('stock of a drill: generated histories', () => {
  test('sales one after the other are never accused, whatever became of those in doubt', () => {
    fc.assert(
      fc.property(cleanHistory, (history) => {
        expect(readStock(history)).toEqual({
          sold: answeredOf(history),
          inDoubt: inDoubtOf(history),
          finalStock: history.finalStock,
          expectedStock: history.initialStock - answeredOf(history),
          lostUpdates: 0,
          witnesses: [],
        });
        expect(history.writes).toBe(history.fall);
        expect(overlapsOf(history)).toEqual({ overlaps: 0, witnesses: [] });
      }),
      RUNS,
    );
  });

  test('when every answer says what happened, each sale that was undone is counted', () => {
    const allKnown = historyOf(stepsOf(stepOf(['answered', 'refused'], perhapsOvertaken)));
    fc.assert(
      fc.property(allKnown, (history) => {
        expect(readStock(history).lostUpdates).toBe(history.writes - history.fall);
      }),
      RUNS,
    );
  });

  test('a stale write that its node recorded is caught, and its witness names both readers', () => {
    // Whatever comes before, meanwhile and after; but the first to read the same stock has recorded its write as well.
    const surroundings = fc.array(stepOf(allEndings, perhapsOvertaken), { maxLength: 8 });
    const late = stepOf(['answered', 'noted'], fc.integer({ min: 1, max: 4 }));
    const steps = fc
      .tuple(
        fc.array(stepOf(allEndings, alone), { maxLength: 8 }),
        late,
        stepOf(['answered', 'noted'], alone),
        surroundings,
      )
      .map(([before, stale, next, after]) => ({ steps: [...before, stale, next, ...after], place: before.length }));
    fc.assert(
      fc.property(steps, ({ steps, place }) => {
        const history = play(steps, 0);
        const { lostUpdates, witnesses } = readStock(history);
        expect(lostUpdates).toBeGreaterThan(0);
        expect(witnesses.length).toBeGreaterThan(0);
        const stock = history.events.find(({ type, saleId }) => type === 'read' && Number(saleId) === place + 1)?.stock;
        const witness = witnesses.find((text) => text.endsWith(` read stock ${stock}`)) ?? '';
        expect(witness).toMatch(/^sale \d{4} on node-\d \(at [\d.]+ s\)(,| and) sale \d{4} on node-\d \(at [\d.]+ s\)/);
        // A third sale may have read that stock too, and be named in the place of one of the two.
        const named = [place + 1, place + 2].filter((id) => witness.includes(`sale ${String(id).padStart(4, '0')} on`));
        expect(named.length).toBeGreaterThan(witness.includes(' both read ') ? 1 : 0);
        expect(overlapsOf(history).overlaps).toBeGreaterThan(0);
      }),
      RUNS,
    );
  });

  test('a stale write that nobody recorded is caught when it undoes more answered sales than it could be itself', () => {
    const others = stepOf(['answered', 'refused'], alone);
    const steps = fc
      .tuple(
        fc.array(others, { maxLength: 8 }),
        stepOf(['unnoted'], alone),
        fc.array(stepOf(['answered'], alone), { minLength: 1, maxLength: 5 }),
        fc.array(others, { maxLength: 8 }),
      )
      .map(([before, late, meanwhile, after]) => ({
        steps: [...before, { ...late, overtakenBy: meanwhile.length }, ...meanwhile, ...after],
        undone: meanwhile.length,
      }));
    fc.assert(
      fc.property(steps, ({ steps, undone }) => {
        // One sale in doubt, and one unit: it may be that sale's as well as that of the first one that was undone.
        expect(readStock(play(steps, 0)).lostUpdates).toBe(undone - 1);
        // What saw the write arrive says whose it was, and nothing is in doubt about it.
        const history = play(steps, 0);
        const [late] = history.stale.map(({ step, saleId }) => ({ node: step.node, saleId }));
        const { lostUpdates, witnesses } = readStock(history, late ? [late] : []);
        expect(lostUpdates).toBeGreaterThan(0);
        expect(lostUpdates).toBeLessThanOrEqual(undone);
        expect(witnesses.join()).toContain(`sale ${late?.saleId} on ${late?.node} (at`);
      }),
      RUNS,
    );
  });

  test('whatever happened: never more than was really undone, never less than the stock itself shows', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { lostUpdates, sold } = readStock(history);
        expect(lostUpdates).toBeLessThanOrEqual(history.writes - history.fall);
        expect(lostUpdates).toBeGreaterThanOrEqual(Math.max(0, sold - history.fall));
      }),
      RUNS,
    );
  });

  test('units that no sale explains are no verdict, whatever happened besides; one fewer is one', () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 1, max: 1000 }), (history, missing) => {
        const explained = history.initialStock - answeredOf(history) - inDoubtOf(history);
        expect(() => readStock({ ...history, finalStock: explained - missing })).toThrow(NotStagedError);
        expect(readStock({ ...history, finalStock: explained }).finalStock).toBe(explained);
      }),
      RUNS,
    );
  });

  test('the histories are what they are said to be', () => {
    const [clean, any] = [cleanHistory, anyHistory].map((history) => fc.sample(history, { seed: 1, numRuns: 500 }));
    expect(clean?.every(({ stale }) => stale.length === 0)).toBe(true);
    expect(clean?.filter((history) => inDoubtOf(history) > 1).length).toBeGreaterThan(100);
    expect(any?.filter(({ writes, fall }) => writes > fall).length).toBeGreaterThan(100);
    expect(any?.some(({ stale }) => stale.some(({ step, next }) => isInDoubt(step) && next !== undefined))).toBe(true);
  });
});

const sold: SaleEnd = {
  outcome: 'sold',
  sale: { outcome: 'sold', saleId: '0001', node: 'node-1', stockBefore: 10, remaining: 9 },
  sentAt: 0,
  ms: 1,
};
const cutOff: SaleEnd = { outcome: 'cutOff', sentAt: 0, ms: 1 };
const outcome = (ends: SaleEnd[], finalStock: number): StepHistory => ({
  ends,
  initialStock: 10,
  finalStock,
  events: [],
  startedAt: 0,
});

describe('stock of a drill: what is lost for sure', () => {
  test('a sale in doubt is no loss either way, one that was answered is; what no sale explains is no verdict', () => {
    expect(readStock(outcome([sold, cutOff], 8))).toMatchObject({ sold: 1, inDoubt: 1, lostUpdates: 0 });
    expect(readStock(outcome([sold, cutOff], 9))).toMatchObject({ sold: 1, inDoubt: 1, lostUpdates: 0 });
    expect(readStock(outcome([sold, sold, cutOff], 9)).lostUpdates).toBe(1);
    expect(() => readStock(outcome([sold, cutOff], 7))).toThrow(NotStagedError);
  });
});

describe('stock of a rush', () => {
  test('stock over time: of a stock in buckets it is the whole, and a sale that is undone shows', () => {
    const wrote = (at: number, bucket: number, stock: number): SaleEvent => ({
      ...{ at, type: 'wrote', node: 'node-1', saleId: String(at) },
      ...{ bucket, stock },
    });

    // Nobody has sold from the third bucket, which has 4 units.
    const points = stockOverTime([wrote(1, 0, 9), wrote(2, 1, 4), wrote(3, 0, 8), wrote(4, 0, 8), wrote(5, 1, 3)], 19);

    expect(points.map(({ stock, expected }) => [stock, expected])).toEqual([
      [18, 18],
      [17, 17],
      [16, 16],
      [16, 15],
      [15, 14],
    ]);
  });

  test('readings: the same stock of two buckets undoes nothing', () => {
    const events = [0, 1].flatMap((bucket): SaleEvent[] => {
      const own = { node: `node-${bucket}`, saleId: '0001', bucket };
      return [
        { at: 1, type: 'read', ...own, stock: 5 },
        { at: 2, type: 'wrote', ...own, stock: 4 },
      ];
    });
    const history = { ends: [], initialStock: 10, finalStock: 10, startedAt: 0 };

    expect(readStock({ ...history, events }).lostUpdates).toBe(0);
    expect(readStock({ ...history, events: events.map((event) => ({ ...event, bucket: 1 })) }).lostUpdates).toBe(1);
  });

  test('stock over time: thinned out to 200 points, the first and the last kept', () => {
    const events = Array.from(
      { length: 1000 },
      (_, index): SaleEvent => ({
        at: index,
        type: 'wrote',
        node: 'node-1',
        saleId: String(index),
        stock: 999 - index,
      }),
    );
    const points = stockOverTime(events, 1000);
    expect(points).toHaveLength(200);
    expect(points[0]).toMatchObject({ stock: 999, expected: 999 });
    expect(points.at(-1)).toMatchObject({ stock: 0, expected: 0 });
    expect(points.every((point, index) => point.ms >= (points[index - 1]?.ms ?? 0))).toBe(true);
  });
});
