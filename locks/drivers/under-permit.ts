// How a sale takes its unit under a semaphore permit.

import type { CreateLock, TakeOne } from '../lock.ts';
import { readScript } from './script.ts';

const takeOneScript = readScript('take-one');

/** Other holders are inside as well, so the unit is taken in one step. */
export const takeUnderPermit =
  (createLock: CreateLock): TakeOne =>
  async ({ redis, stockKey, openLock, signal, business, write, emit }) => {
    const permit = openLock(createLock);
    await permit.acquire(signal);
    emit('began');
    try {
      signal.throwIfAborted();
      await business();
      permit.lost?.throwIfAborted();
      const stockBefore = await write(() => takeOneScript(redis, [stockKey], []));
      if (stockBefore === -1) return undefined;
      emit('read', stockBefore);
      if (stockBefore > 0) emit('wrote', stockBefore - 1);
      return stockBefore;
    } finally {
      emit('left');
      await permit.release();
    }
  };
