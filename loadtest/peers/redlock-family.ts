// What redlock and its copy for ioredis 5 have in common: `using()`, which extends the lease by itself.

import type { LockOptions } from '../../locks/lock.ts';
import { adapt, cannotBeCancelled, enter, type Inside } from './adapter.ts';

export const optionsOfUsing = {
  clients: 'one for each of five masters',
  duration: 'the lease',
  retryCount: '-1 (no limit) while it waits, 0 for a single try and for the release',
  automaticExtensionThreshold: '500 ms before the end of the lease, less when the lease is short',
};

export const usingDoesNotPromise = cannotBeCancelled('acquire()');

interface UsingRedlock {
  using(
    resources: string[],
    duration: number,
    settings: { retryCount: number },
    routine: (lost?: AbortSignal) => Promise<void>,
  ): Promise<unknown>;
}

interface Settings {
  retryCount: number;
  automaticExtensionThreshold: number;
}

/** The lock of a library that has `using()`. */
export const adaptUsing = (open: (masters: LockOptions['masters'], settings: Settings) => UsingRedlock) =>
  adapt<Inside>(({ masters, key, leaseMs, onLeaseLost }) => {
    const redlock = open(masters, {
      retryCount: 0,
      automaticExtensionThreshold: Math.min(500, Math.max(0, leaseMs - 100)),
    });

    const use = (retryCount: number) =>
      enter((inside) => redlock.using([key], leaseMs, { retryCount }, inside), onLeaseLost);

    return {
      wait: () => use(-1),
      tryOnce: () => use(0).catch(() => undefined),
      release({ leave, left }) {
        leave();
        return left.catch(() => false);
      },
      lost: ({ lost }) => lost,
    };
  });
