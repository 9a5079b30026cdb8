import { expect, test } from 'vitest';
import { freeWhileWanted, longestOf } from '../../../loadtest/evidence/free-time.ts';
import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';

const event = (at: number, type: SaleEvent['type'], saleId: string, node = 'node-1'): SaleEvent => ({
  at,
  type,
  saleId,
  node,
});

test('free time: from the asking, or from the leaving of the last, until somebody enters', () => {
  const events = [
    event(0, 'waiting', 'a'),
    event(5, 'entered', 'a'),
    event(6, 'waiting', 'b'),
    event(9, 'left', 'a'),
    event(40, 'entered', 'b'),
    event(41, 'left', 'b'),
  ];
  expect(freeWhileWanted(events)).toEqual([
    { from: 0, until: 5, waiters: [{ node: 'node-1', saleId: 'a' }] },
    { from: 9, until: 40, waiters: [{ node: 'node-1', saleId: 'b' }] },
  ]);
});

test('free time: none when nobody waits, and none while another holds', () => {
  const events = [
    event(0, 'waiting', 'a'),
    event(0, 'entered', 'a'),
    event(1, 'waiting', 'b'),
    event(100, 'failed', 'b'),
    event(101, 'left', 'a'),
    event(500, 'waiting', 'c'),
    event(500, 'entered', 'c'),
  ];
  expect(freeWhileWanted(events)).toEqual([]);
});

test('free time: it ends when the last who waits gives up, and two nodes may give the same id', () => {
  const events = [
    event(0, 'waiting', '1'),
    event(10, 'waiting', '1', 'node-2'),
    event(20, 'failed', '1'),
    event(50, 'failed', '1', 'node-2'),
  ];
  expect(freeWhileWanted(events)).toEqual([{ from: 0, until: 50, waiters: [{ node: 'node-1', saleId: '1' }] }]);
});

test('free time: a sale without a lock is inside from its beginning on', () => {
  expect(freeWhileWanted([event(0, 'waiting', 'a'), event(0, 'began', 'a'), event(90, 'left', 'a')])).toEqual([]);
});

test('the longest: without the part of a standstill that lies in it', () => {
  const spans = [
    { from: 0, until: 100 },
    { from: 200, until: 260 },
  ];
  const [first, second] = spans;
  expect(longestOf(spans, [])).toEqual({ span: first, ms: 100 });
  expect(longestOf(spans, [{ from: 50, until: 230 }])).toEqual({ span: first, ms: 50 });
  expect(longestOf(spans, [{ from: 20, until: 100 }])).toEqual({ span: second, ms: 60 });
  expect(longestOf([], [])).toEqual({ ms: 0 });
});
