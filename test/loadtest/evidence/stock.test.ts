import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SaleEnd } from '../../../loadtest/evidence/answers.ts';
import { holdsOf, overlapsBetween, type StepHistory } from '../../../loadtest/evidence/history.ts';
import { NotStagedError } from '../../../loadtest/evidence/not-staged.ts';
import { readStock } from '../../../loadtest/evidence/stock.ts';
import { described } from '../../../loadtest/narration/evidence.ts';
import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';

const RUNS = { seed: 1, numRuns: 200 };

/**
 * How a sale of a generated history ends. `noted`: it took place, its node recorded the write, and its answer does not say.
 * `unnoted`: Redis took the write, and nobody heard of it. `lost on the way`: no write, and nobody knows. `refused`: no write,
 * and its client knows.
 */
const answersOf = {
  answered: ['sold'],
  noted: ['inDoubt', 'cutOff', 'nonsense'],
  unnoted: ['inDoubt', 'cutOff', 'nonsense'],
  'lost on the way': ['inDoubt', 'cutOff', 'nonsense'],
  refused: ['soldOut', 'lockTimeout', 'failed'],
} as const satisfies Record<string, SaleEnd['outcome'][]>;

interface Step {
  ending: keyof typeof answersOf;
  /** What its client was answered. */
  answered: SaleEnd['outcome'];
  /** So many of the next sales read and write between this one's read and its write. 0: it is alone. */
  overtakenBy: number;
}

const isWritten = ({ ending }: Step) => ending === 'answered' || ending === 'noted' || ending === 'unnoted';

/** Plays sales one after the other, as the service would, with stale writers where a sale is overtaken. */
function play(steps: Step[]) {
  const ends: SaleEnd[] = [];
  const events: SaleEvent[] = [];
  let stock = steps.length;
  const record = (type: SaleEvent['type'], saleId: string, stock?: number) =>
    events.push({ at: events.length, type, node: 'node-1', saleId, ...(stock !== undefined && { stock }) });

  function finish(step: Step, saleId: string, stockBefore: number) {
    const sale = { outcome: 'sold' as const, saleId, node: 'node-1', stockBefore, remaining: stockBefore - 1 };
    if (isWritten(step)) stock = sale.remaining;
    if (step.ending === 'answered' || step.ending === 'noted') record('wrote', saleId, sale.remaining);
    record('left', saleId);
    ends.push({ outcome: step.answered, sale, sentAt: 0, ms: 1 } as SaleEnd);
  }

  let late: { finish(): void; waitsFor: number } | undefined;
  for (const [index, step] of steps.entries()) {
    const saleId = String(index);
    const stockBefore = stock;
    record('entered', saleId);
    record('read', saleId, stock);
    if (late === undefined && step.overtakenBy > 0) {
      late = { finish: () => finish(step, saleId, stockBefore), waitsFor: step.overtakenBy };
      continue;
    }
    finish(step, saleId, stockBefore);
    if (late === undefined) continue;
    late.waitsFor -= 1;
    if (late.waitsFor > 0) continue;
    late.finish();
    late = undefined;
  }
  late?.finish();
  const writes = steps.filter(isWritten).length;
  return {
    ends,
    events,
    initialStock: steps.length,
    finalStock: stock,
    startedAt: 0,
    undone: writes - steps.length + stock,
  };
}

function historyOf(endings: Step['ending'][], overtakenBy: number[]) {
  const step = fc.constantFrom(...endings).chain((ending) =>
    fc.record({
      ending: fc.constant(ending),
      answered: fc.constantFrom<SaleEnd['outcome']>(...answersOf[ending]),
      overtakenBy: fc.constantFrom(...overtakenBy),
    }),
  );
  return fc.array(step, { minLength: 1, maxLength: 14 }).map(play);
}
const allEndings = Object.keys(answersOf) as Step['ending'][];
const anyHistory = historyOf(allEndings, [0, 0, 0, 1, 2, 4]);
const count = ({ ends }: StepHistory, outcomes: string[]) =>
  ends.filter(({ outcome }) => outcomes.includes(outcome)).length;
const inDoubtOf = (history: StepHistory) => count(history, ['inDoubt', 'cutOff', 'nonsense']);
const answeredOf = (history: StepHistory) => count(history, ['sold']);

describe('stock of a drill: generated histories', () => {
  test('sales one after the other are never accused, whatever became of those in doubt', () => {
    fc.assert(
      fc.property(historyOf(allEndings, [0]), (history) => {
        expect(readStock(history)).toEqual({
          sold: answeredOf(history),
          inDoubt: inDoubtOf(history),
          finalStock: history.finalStock,
          expectedStock: history.initialStock - answeredOf(history),
          lostUpdates: 0,
          evidence: [],
        });
        expect(overlapsBetween(holdsOf(history.events))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('when every answer says what happened, each sale that was undone is counted', () => {
    fc.assert(
      fc.property(historyOf(['answered', 'refused'], [0, 0, 0, 1, 2, 4]), (history) => {
        expect(readStock(history).lostUpdates).toBe(history.undone);
      }),
      RUNS,
    );
  });

  test('whatever happened: never more than was really undone, never less than the stock itself shows', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { lostUpdates, sold } = readStock(history);
        expect(lostUpdates).toBeLessThanOrEqual(history.undone);
        expect(lostUpdates).toBeGreaterThanOrEqual(Math.max(0, history.finalStock - history.initialStock + sold));
      }),
      RUNS,
    );
  });

  test('units that no sale explains are no verdict, whatever happened besides; one fewer is one', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const explained = history.initialStock - answeredOf(history) - inDoubtOf(history);
        expect(() => readStock({ ...history, finalStock: explained - 1 })).toThrow(NotStagedError);
        expect(readStock({ ...history, finalStock: explained }).finalStock).toBe(explained);
      }),
      RUNS,
    );
  });
});

/** What a sale read and, if its node recorded a write, wrote. */
const sale = (node: string, read: number, wrote?: number, bucket?: number): SaleEvent[] => {
  const own = { node, saleId: '0001', ...(bucket !== undefined && { bucket }) };
  return [
    { at: 10 * read, type: 'read', ...own, stock: read },
    ...(wrote === undefined ? [] : [{ at: 20 * read, type: 'wrote' as const, ...own, stock: wrote }]),
  ];
};
const first = sale('node-1', 7, 6);
const both = ['sale 0001 on node-1 (at 0.070 s) and sale 0001 on node-2 (at 0.070 s) both read stock 7'];

describe('stock of a drill: whose write was undone', () => {
  test.each<[string, SaleEvent[], { node: string; saleId: string }[], number, string[]]>([
    ['two that read the same stock, and both wrote', [...first, ...sale('node-2', 7, 6)], [], 1, both],
    ['one of them did not write', [...first, ...sale('node-2', 7)], [], 0, []],
    [
      'its node did not record the write, and it was seen to arrive late',
      [...first, ...sale('node-2', 7)],
      [{ node: 'node-2', saleId: '0001' }],
      1,
      both,
    ],
    [
      'the same stock of one bucket',
      [...sale('node-1', 7, 6, 1), ...sale('node-2', 7, 6, 1)],
      [],
      1,
      both.map((sentence) => `${sentence} of bucket 1`),
    ],
  ])('%s', (_what, events, wroteLate, lostUpdates, evidence) => {
    const history = { ends: [], initialStock: 10, finalStock: 10, startedAt: 0, events };
    const found = readStock(history, { wroteLate });
    expect({ ...found, evidence: found.evidence.map(described) }).toMatchObject({ lostUpdates, evidence });
  });
});
