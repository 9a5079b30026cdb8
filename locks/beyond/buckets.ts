// Beyond · buckets
// Problem: one stock has one lock, so all buyers of an item wait for each other, however many nodes there are.
// Change:  the stock is split into buckets, each with its own lock; it is sold out when all are empty at the same moment.
// Leaves:  a sale waits for the bucket it chose even when others are free; for the last units only one bucket is left.
// Source:  Goetz et al., Java Concurrency in Practice, 2006, 11.4.3: lock striping.

import type { Bucket, CreateLock, SaleOptions, TakeOne } from '../lock.ts';
import { createLock as createFencedLock } from './fenced.ts';

/** The lock of each bucket. Returned units go into the first bucket, under its lock. */
export const createLock: CreateLock = createFencedLock;

export const takeOne: TakeOne = async (options) => {
  const { buckets, readBuckets, emit } = options;
  while (true) {
    // One command reads all buckets: read one by one, each could look empty although they are never all empty at once.
    const units = await readBuckets();
    const filled = buckets.filter((_, index) => (units[index] ?? 0) > 0);
    const bucket = filled[Math.floor(Math.random() * filled.length)];
    if (bucket === undefined) {
      emit('began');
      return units.every((stock) => stock === undefined) ? undefined : 0;
    }
    const stockBefore = await takeFrom(bucket, options);
    if (stockBefore > 0) return stockBefore;
    // Other sales have emptied this bucket since. Other buckets may have units, or this one may again.
    emit('waiting');
  }
};

/** Resolves with the stock of the bucket before the sale: 0 if it was empty. */
async function takeFrom({ stock, openLock, emit }: Bucket, { signal, business }: SaleOptions) {
  const lock = openLock(createLock);
  await lock.acquire(signal);
  emit('entered');
  try {
    signal.throwIfAborted();
    const stockBefore = (await stock.read(lock.fencingToken)) ?? 0;
    if (stockBefore <= 0) return 0;
    emit('read', stockBefore);
    await business();
    lock.lost?.throwIfAborted();
    await stock.write(stockBefore - 1, lock.fencingToken);
    emit('wrote', stockBefore - 1);
    return stockBefore;
  } finally {
    emit('left');
    await lock.release();
  }
}
