// What redlock and its copy for ioredis 5 have in common: what they say of themselves, and `using()`, which extends the lease by itself.

import type { LockOptions } from '../../locks/lock.ts';
import { adapt, cannotBeCancelled, enter, type Inside } from './adapter.ts';

/** What each of them says on its page, word for word. */
export const said = {
  guarantees:
    'It provides strong guarantees in both single-redis and multi-redis environments, and provides fault tolerance through use of multiple independent redis instances or clusters.',
  minority:
    'Because redlock is designed for high availability, it does not care if a minority of redis instances/clusters fail at an operation.',
  extension:
    'In the case that auto-extension fails, an AbortSignal will be updated to indicate that abortion of the routine is in order, and to pass along the encountered error.',
  consensus:
    'by requiring consensus between them, we can safely take out or fail-over a minority of nodes without invalidating active locks.',
  purpose:
    'The purpose of redlock is to provide exclusivity guarantees on a resource over a duration of time, and is not designed to report the ownership status of a resource.',
};

export const claimsOf = (source: string) => Object.values(said).map((quote) => ({ quote, source }));

export const optionsOfUsing = {
  clients: 'one for each of five masters',
  duration: 'the lease',
  retryCount: '-1 (no limit) while it waits, 0 for a single try and for the release',
  automaticExtensionThreshold: '500 ms before the end of the lease, less when the lease is short',
};

export const usingDoesNotPromise = {
  'nested-call': 'It is not reentrant.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  ...cannotBeCancelled('acquire()'),
};

const splitVotes =
  'A try that fails keeps the votes that it got while it tries again, with the value that it has, which the script refuses because the key exists. Two waiters that split the votes so keep each other out, and themselves, until these votes expire.';

export const becauseOfUsing = {
  rush: splitVotes,
  'sell-out': splitVotes,
  'late-votes': 'acquire() does not look at the time that is left before it resolves.',
  amnesia: 'A master that has restarted empty votes at once.',
};

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
