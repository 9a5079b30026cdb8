// redlock 5 beta: `using()`, which extends the lease by itself, with all masters.

import Redlock from 'redlock';
import type { Promises } from '../evidence/promises.ts';
import { adapt, enter, type Inside } from './adapter.ts';

export const options = {
  clients: 'one for each of five masters',
  duration: 'the lease',
  retryCount: '-1 (no limit) while it waits, 0 for a single try and for the release',
  automaticExtensionThreshold: '500 ms before the end of the lease, less when the lease is short',
};

export const promises: Promises = { renewal: true, masters: true };

const readme = 'https://www.npmjs.com/package/redlock/v/5.0.0-beta.2';

export const claims = [
  {
    quote:
      'It provides strong guarantees in both single-redis and multi-redis environments, and provides fault tolerance through use of multiple independent redis instances or clusters.',
    source: readme,
  },
  {
    quote:
      'Because redlock is designed for high availability, it does not care if a minority of redis instances/clusters fail at an operation.',
    source: readme,
  },
  {
    quote:
      'In the case that auto-extension fails, an AbortSignal will be updated to indicate that abortion of the routine is in order, and to pass along the encountered error.',
    source: readme,
  },
  {
    quote:
      'by requiring consensus between them, we can safely take out or fail-over a minority of nodes without invalidating active locks.',
    source: readme,
  },
  {
    quote:
      'The purpose of redlock is to provide exclusivity guarantees on a resource over a duration of time, and is not designed to report the ownership status of a resource.',
    source: readme,
  },
];

export const doesNotPromise = {
  'nested-call': 'It is not reentrant.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  'client-gone': 'acquire() cannot be cancelled: a waiter that has gone gets the lock once more and gives it back.',
};

export const because = {
  rush: 'A try that fails keeps the votes that it got while it tries again, with the value that it has, which the script refuses because the key exists. Two waiters that split the votes so keep each other out, and themselves, until these votes expire.',
  'sell-out':
    'A try that fails keeps the votes that it got while it tries again, with the value that it has, which the script refuses because the key exists. Two waiters that split the votes so keep each other out, and themselves, until these votes expire.',
  'long-sale':
    'acquire() counts the time that is left from its first try. A waiter that has waited for longer than a lease is told at once that its lock is over, and does not extend it.',
  'late-votes': 'acquire() does not look at the time that is left before it resolves.',
  amnesia: 'A master that has restarted empty votes at once.',
};

export const createLock = adapt<Inside>(({ masters, key, leaseMs, onLeaseLost }) => {
  const redlock = new Redlock(masters, {
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
