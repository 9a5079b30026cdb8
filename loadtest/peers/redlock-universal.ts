// redlock-universal 0.8: `createRedlock().using()`, which extends the lease by itself, with all masters.
// What it says of itself: https://www.npmjs.com/package/redlock-universal/v/0.8.5

import type { Redis } from 'ioredis';
import { createRedlock, IoredisAdapter, LockAcquisitionError } from 'redlock-universal';
import { abortError } from '../../locks/drivers/abortable.ts';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled, enter, type Inside } from './adapter.ts';

export const options = {
  adapters: 'an IoredisAdapter for each of five masters',
  ttl: 'the lease',
  retryAttempts: '3, as the library sets it, and asked again until it is granted; 0 for a single try',
};

export const promises: Promises = { renewal: true, masters: true };

const saysNothing = 'using() does not report that the lock was no longer held when it was released.';

export const doesNotPromise = {
  'late-release': saysNothing,
  'contract-not-held': saysNothing,
  ...cannotBeCancelled('acquire()'),
};

/** An adapter remembers the scripts that its server knows. */
const adapters = new WeakMap<Redis, IoredisAdapter>();

function adapterOf(master: Redis): IoredisAdapter {
  const adapter = adapters.get(master) ?? new IoredisAdapter(master);
  adapters.set(master, adapter);
  return adapter;
}

export const createLock = adapt<Inside>(({ masters, key, leaseMs, onLeaseLost }) => {
  async function ask(limits: { retryAttempts?: number }): Promise<Inside | undefined> {
    const redlock = createRedlock({ adapters: masters.map(adapterOf), key, ttl: leaseMs, ...limits });
    try {
      return await enter((inside) => redlock.using(inside), onLeaseLost);
    } catch (error) {
      if (error instanceof LockAcquisitionError) return undefined;
      throw error;
    }
  }

  /** It knows no wait without an end: when its tries are used up, it is asked again. */
  async function wait(signal?: AbortSignal): Promise<Inside> {
    for (;;) {
      const held = await ask({});
      if (held !== undefined) return held;
      if (signal?.aborted) throw abortError(signal);
    }
  }

  return {
    wait,
    tryOnce: () => ask({ retryAttempts: 0 }),
    release({ leave, left }) {
      leave();
      return left;
    },
    lost: ({ lost }) => lost,
  };
});
