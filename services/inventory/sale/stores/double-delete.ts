// Two stores · double-delete
// Problem: a reader that read MySQL before the sale may fill Redis after the delete: the sold unit is back.
// Change:  the sale deletes the key again after a delay, when such a reader should have finished.
// Leaves:  a reader slower than the delay, or a node that dies before a delete, leaves the sold unit in Redis.

import type { OpenStock } from './stores.ts';

export const openStock: OpenStock = ({ database, cache, later }) => ({
  async look() {
    const cached = await cache.read();
    if (cached !== undefined) return cached;
    const stock = await database.read();
    if (stock !== undefined) await cache.write(stock);
    return stock;
  },
  async take(found) {
    await database.write(found - 1);
    await cache.delete();
    // The sale does not wait for it: the buyer is answered, and the lock is released, long before.
    later(() => cache.delete());
    return found - 1;
  },
});
