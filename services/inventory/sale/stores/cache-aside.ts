// Two stores · cache-aside
// Problem: when Redis loses the key, nobody can buy what MySQL still has.
// Change:  a sale writes MySQL, then deletes the key; on a cache miss a reader reads MySQL and fills Redis.
// Leaves:  a reader that read MySQL before the sale may fill Redis after the delete: the sold unit is back.

import type { OpenStock } from './stores.ts';

export const openStock: OpenStock = ({ database, cache }) => ({
  async look() {
    const cached = await cache.read();
    if (cached !== undefined) return cached;
    const stock = await database.read();
    // Whoever only looks has no lock: a sale may come between these two commands.
    if (stock !== undefined) await cache.write(stock);
    return stock;
  },
  async take(found) {
    await database.write(found - 1);
    await cache.delete();
    return found - 1;
  },
});
