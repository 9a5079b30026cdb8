import { expect, test } from 'vitest';
import { freeWhileWanted, longestOf } from '../../../loadtest/evidence/free-time.ts';
import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';

/** Events, as `at type sale`, of node-1 unless it is named behind. */
const eventsOf = (text: string) =>
  text.split(', ').map((event): SaleEvent => {
    const [at, type, saleId = '', node = 'node-1'] = event.split(' ');
    return { at: Number(at), type: type as SaleEvent['type'], saleId, node };
  });

test.each([
  [
    'from the asking, or from the leaving of the last, until somebody enters',
    '0 waiting a, 5 entered a, 6 waiting b, 9 left a, 40 entered b, 41 left b',
    ['node-1 a 0-5', 'node-1 b 9-40'],
  ],
  [
    'none when nobody waits, and none while another holds',
    '0 waiting a, 0 entered a, 1 waiting b, 100 failed b, 101 left a, 500 waiting c, 500 entered c',
    [],
  ],
  [
    'it ends when the last who waits gives up, and two nodes may give the same id',
    '0 waiting a, 10 waiting a node-2, 20 failed a, 50 failed a node-2',
    ['node-1 a 0-50'],
  ],
  ['a sale without a lock is inside from its beginning on', '0 waiting a, 0 began a, 90 left a', []],
])('free time: %s', (_what, events, spans) => {
  const found = freeWhileWanted(eventsOf(events));
  expect(
    found.map(
      ({ from, until, waiters }) => `${waiters.map(({ node, saleId }) => `${node} ${saleId}`)} ${from}-${until}`,
    ),
  ).toEqual(spans);
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
