import { expect, test } from 'vitest';
import { createHistory } from '../../../../services/inventory/sale/history.ts';

/** A history of so many events, whose sale ids count them from 1. */
function historyOf(count: number, capacity: number) {
  const history = createHistory('node', capacity);
  let recorded = 0;
  const record = (more: number) => {
    for (const last = recorded + more; recorded < last; ) {
      recorded += 1;
      history.record({ type: 'waiting', saleId: String(recorded) });
    }
  };
  record(count);
  return { ...history, record };
}

const idsOf = ({ events }: { events: { saleId: string }[] }) => events.map(({ saleId }) => Number(saleId));
const numbers = (from: number, until: number) => Array.from({ length: until - from + 1 }, (_, i) => from + i);

test.each([0, 9, 10, 11, 25])('history: of %i events the newest 10 are kept, in order', (count) => {
  const { read } = historyOf(count, 10);

  expect(idsOf(read())).toEqual(numbers(Math.max(1, count - 9), count));
  expect(read().dropped).toBe(Math.max(0, count - 10));
});

test('history: one who has read what was cleared since reads on from the new beginning', () => {
  const history = historyOf(8, 10);
  const { next } = history.read(undefined, 10);
  history.clear();

  expect(history.read(next, 10)).toMatchObject({ events: [], dropped: 0, cleared: true });
  history.record(9);
  const late = history.read(next, 10);
  expect(late).toMatchObject({ dropped: 0, cleared: true });
  expect(idsOf(late)).toEqual(numbers(9, 17));
  expect(history.read(late.next, 10)).toMatchObject({ events: [], cleared: false });
});

test('history: a node whose history nobody can ask for keeps none', () => {
  expect(historyOf(5, 0).read()).toMatchObject({ events: [], dropped: 0 });
});

test('history: every member of an event is kept, over the end of a block, and what an event has not is not there', () => {
  const { record, read } = createHistory('node');
  const events = [
    { type: 'waiting', saleId: '0001', requestId: 'a' },
    { type: 'entered', saleId: '0001', fencingToken: '7', bucket: 0 },
    { type: 'read', saleId: '0001', stock: 0 },
    { type: 'failed', saleId: '0001', code: 'LOCK_FAILED', detail: 'why' },
    { type: 'wrote', saleId: '0002', stock: -1, bucket: 3 },
  ] as const;
  const rounds = 1_000;

  for (let round = 0; round < rounds; round += 1) for (const event of events) record(event);
  const kept = read().events;

  const expected = events.map((event) => ({ ...event, at: expect.any(Number), node: 'node' }));
  expect(kept.slice(0, events.length)).toEqual(expected);
  expect(kept.slice(-events.length)).toEqual(expected);
  expect(kept.slice(4_095, 4_100)).toEqual(expected);
  expect(kept).toHaveLength(rounds * events.length);
});
