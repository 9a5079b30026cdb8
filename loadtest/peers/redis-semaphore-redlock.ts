// redis-semaphore 5: its RedlockMutex, in all masters.

import { RedlockMutex } from 'redis-semaphore';
import type { Promises } from '../evidence/promises.ts';
import { adapt } from './adapter.ts';

export const options = {
  clients: 'one for each of five masters',
  lockTimeout: 'the lease',
  acquireTimeout: 'none',
  acquireAttemptsLimit: '1 for a single try',
  onLockLost: 'tells the holder',
};

export const promises: Promises = { renewal: true, masters: true };

const readme = 'https://www.npmjs.com/package/redis-semaphore/v/5.8.0';

export const claims = [
  { quote: 'Distributed `Mutex` version', source: readme },
  {
    quote: 'See [The Redlock algorithm](https://redis.io/topics/distlock#the-redlock-algorithm)',
    source: readme,
  },
  {
    quote:
      '`onLockLost` - _optional_ function, called when lock loss is detected due refresh cycle; default onLockLost throws unhandled LostLockError',
    source: readme,
  },
];

export const doesNotPromise = {
  'nested-call': 'Its RedlockMutex is not reentrant.',
  'paused-process': 'It has no fencing token, and hears of a lost lock at its next refresh.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  amnesia: 'The algorithm asks that a master that restarts empty stays away for a lease; the drill starts it at once.',
};

export const because = {
  'frozen-master':
    'It waits for the answer of every master, however long that takes. Here the connection gives up after 700 ms, and then fails at once until the master answers: the first sale pays, and the others do not.',
  'late-votes': 'acquire() does not look at the time that is left.',
  amnesia: 'A master that has restarted empty votes at once.',
};

interface Held {
  mutex: RedlockMutex;
  lost: AbortSignal;
}

export const createLock = adapt<Held>(({ masters, key, leaseMs, onLeaseLost }) => {
  function open(limits: { acquireAttemptsLimit?: number }) {
    const lost = new AbortController();
    const onLockLost = () => {
      onLeaseLost();
      lost.abort();
    };
    const acquireTimeout = Number.POSITIVE_INFINITY;
    const mutex = new RedlockMutex(masters, key, { lockTimeout: leaseMs, acquireTimeout, onLockLost, ...limits });
    return { mutex, lost: lost.signal };
  }

  async function wait(signal?: AbortSignal) {
    const held = open({});
    await held.mutex.acquire(signal);
    return held;
  }

  async function tryOnce() {
    const held = open({ acquireAttemptsLimit: 1 });
    return (await held.mutex.tryAcquire()) ? held : undefined;
  }

  async function release({ mutex }: Held) {
    if (!mutex.isAcquired) return false;
    await mutex.release();
  }

  return { wait, tryOnce, release, lost: ({ lost }) => lost };
});
