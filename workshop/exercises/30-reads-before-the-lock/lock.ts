// A sale that reads the stock before it acquires the lock: when everything is sold, buyers don't have to wait for it.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError, type TakeOne } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};

/** Resolves with the stock before the sale: 0 if nothing was taken. */
export const takeOne: TakeOne = async ({ redis, stockKey, openLock, signal, business, emit }) => {
  const stockBefore = Number(await redis.get(stockKey));
  if (stockBefore <= 0) return 0;

  const lock = openLock(createLock);
  await lock.acquire(signal);
  emit('entered');
  try {
    signal.throwIfAborted();
    emit('read', stockBefore);
    await business();
    await redis.set(stockKey, stockBefore - 1);
    emit('wrote', stockBefore - 1);
    return stockBefore;
  } finally {
    emit('left');
    await lock.release();
  }
};
