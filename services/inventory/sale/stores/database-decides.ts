// Two stores · database-decides
// Problem: a reader slower than the delay, or a node that dies before a delete, leaves the sold unit in Redis.
// Change:  one UPDATE takes the unit only if MySQL has one: the Redis value is only a hint, and a refusal deletes it.
// Leaves:  a hint of 0 is believed: if it is wrong, a buyer is turned away although MySQL has a unit.

import { ProblemError } from '../../problem.ts';
import type { OpenStock } from './stores.ts';

export const openStock: OpenStock = ({ database, cache }) => ({
  async look() {
    const cached = await cache.read();
    if (cached !== undefined) return cached;
    const stock = await database.read();
    if (stock !== undefined) await cache.write(stock);
    return stock;
  },
  async take() {
    const left = await database.takeOne();
    await cache.delete();
    if (left === undefined) throw new ProblemError('OUT_OF_STOCK', 'MySQL has no units left, whatever Redis says.');
    return left;
  },
});
