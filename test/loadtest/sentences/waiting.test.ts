import { expect, test } from 'vitest';
import { demands } from '../../../loadtest/sentences/waiting.ts';

/** What is concluded when sales that asked in the order 1, 2, 3 … enter in this one. */
function judge(stage: string, order: number[]) {
  const nameOf = (place: number) => ({ node: 'node-1', saleId: String(place) });
  const actors = order.map((_, at) => ({ asks: nameOf(at + 1), sale: { end: Promise.resolve({ outcome: 'sold' }) } }));
  const events = order.map((place, at) => ({ ...nameOf(place), type: 'entered', at }));
  const demand = demands.find(({ form }) => form.startsWith('the waiters enter'))?.means({});
  return demand?.({ stage, actors: new Map(actors.entries()) } as never, { events } as never);
}

test.each<[string, number[], 'holds' | 'fails']>([
  ['zookeeper', [1, 2, 3, 4], 'holds'],
  ['zookeeper', [1, 3, 4, 2], 'fails'],
  ['fair', [1, 3, 2, 4], 'fails'],
])('%s: those who asked in order enter in the order %s: it %s', async (stage, order, kind) => {
  const finding = await judge(stage, order);
  expect(finding?.wrong ? 'fails' : 'holds').toBe(kind);
});

test('where nobody sees whose question came first, neighbours that change places show nothing', async () => {
  await expect(judge('mysql-lock-table', [1, 2, 4, 3])).rejects.toThrow('it is unknown whose');
});
