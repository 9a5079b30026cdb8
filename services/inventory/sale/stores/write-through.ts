// Two stores · write-through
// Problem: MySQL has the stock, and Redis caches it for fast reads: a sale writes two stores, and no command writes both.
// Change:  a sale reads Redis, writes MySQL, then writes Redis.
// Leaves:  when Redis loses the key, nobody can buy what MySQL still has.

import type { OpenStock } from './stores.ts';

export const openStock: OpenStock = ({ database, cache }) => ({
  look: () => cache.read(),
  async take(found) {
    await database.write(found - 1);
    // Two commands to two servers: this gap is what the lock protects, and a crash here is what it can't.
    await cache.write(found - 1);
    return found - 1;
  },
});
