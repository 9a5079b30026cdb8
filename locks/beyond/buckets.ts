// Beyond · buckets
// Problem: one stock has one lock, so all who buy the same thing wait for each other, however many nodes there are.
// Change:  the stock lies in several buckets, each with a lock of its own; it is sold out when all are empty at one moment.
// Leaves:  a sale waits for the bucket that it has chosen while others are free; the last units are one bucket again.
// Source:  Goetz et al., Java Concurrency in Practice, 2006, 11.4.3: lock striping.

import type { Bucket, CreateLock, SaleOptions, TakeOne } from '../lock.ts';
import { createLock as createFencedLock } from './fenced.ts';

/** The lock of each bucket. Units are put back into the first one, under its lock. */
export const createLock: CreateLock = createFencedLock;

export const takeOne: TakeOne = async (options) => {
  const { buckets, readBuckets, emit } = options;
  while (true) {
    // In one command: of buckets that are read one after the other, each may be empty at its moment, and all of them never.
    const units = await readBuckets();
    const filled = buckets.filter((_, index) => (units[index] ?? 0) > 0);
    const bucket = filled[Math.floor(Math.random() * filled.length)];
    if (bucket === undefined) {
      emit('began');
      return units.every((stock) => stock === undefined) ? undefined : 0;
    }
    const stockBefore = await takeFrom(bucket, options);
    if (stockBefore > 0) return stockBefore;
    // Others have emptied this one since. There may be units elsewhere, or here again.
    emit('waiting');
  }
};

/** Resolves with the stock of the bucket before the sale: 0 when there was nothing to take. */
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
