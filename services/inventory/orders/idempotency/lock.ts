// Idempotency · lock
// Problem: the other node does not know the key, and neither does this one after a restart.
// Change:  the request tries once to acquire a Redis lock named after the key; if it is held, the request is refused at once.
// Leaves:  the lock is released when the first request ends, so a later repeat creates a second order.

import { randomUUID } from 'node:crypto';
import { createLock } from '../../../../locks/8-auto-renew.ts';
import { type CreateOnce, inProgress, succeeded } from './once.ts';

export const createOnce: CreateOnce =
  ({ servers, followed, leaseMs }) =>
  async ({ key }, work) => {
    const timing = { leaseMs, renewEveryMs: leaseMs / 3, retryDelayMs: 0 };
    const options = { key: `request:${key}`, ownerToken: randomUUID(), onLeaseLost() {} };
    const lock = followed(createLock({ ...servers, ...timing, ...options }), '8-auto-renew', leaseMs);

    // A signal that is aborted already means: try once.
    await lock.acquire(AbortSignal.abort()).catch((error) => {
      throw error.name === 'AbortError' ? inProgress(key) : error;
    });
    try {
      return succeeded(await work());
    } finally {
      // The work is done, whatever has become of the lock: the node releases it later, or its lease ends by itself.
      await lock.release().catch(() => {});
    }
  };
