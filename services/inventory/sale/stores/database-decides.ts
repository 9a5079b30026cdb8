// Two stores · database-decides
// Problem: a reader slower than the delay, or a node that dies before a delete, leaves the sold unit in Redis.
// Change:  one UPDATE takes the unit only if MySQL has one: what Redis says is a hint, and a refusal deletes it.
// Leaves:  a hint of 0 is believed: when Redis is wrong about it, a buyer is sent away from a unit that MySQL has.

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
    if (left === undefined) throw new ProblemError('OUT_OF_STOCK', 'MySQL has none left, whatever Redis says.');
    return left;
  },
});
