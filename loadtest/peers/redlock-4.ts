// redlock 4, which npm calls the latest: `lock()` and `unlock()` with all masters. It extends nothing by itself.

import Redlock from 'redlock-4';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled } from './adapter.ts';
import { said } from './redlock-family.ts';

export const options = {
  clients: 'one for each of five masters',
  ttl: 'the lease',
  retryCount: '-1 (no limit) while it waits, 0 for a single try',
};

export const promises: Promises = { masters: true };

const readme = 'https://www.npmjs.com/package/redlock/v/4.2.0';

export const claims = [
  { quote: said.guarantees, source: readme },
  { quote: said.minority, source: readme },
  { quote: said.consensus, source: readme },
  { quote: 'you can continue to extend\n\t// the lock as long as you never let it expire', source: readme },
];

export const doesNotPromise = {
  'nested-call': 'It is not reentrant.',
  'long-sale': 'It extends nothing by itself: the holder has to call extend().',
  'paused-process': 'It tells no holder that its lock is over, and has no fencing token.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  ...cannotBeCancelled('lock()'),
};

export const because = {
  'frozen-master':
    'It waits for the answer of every master, however long that takes. Here the connection gives up after 700 ms, and then fails at once until the master answers: the first sale pays, and the others do not.',
  'paused-process': 'lock() gives its holder the moment when the lock ends, and nothing that tells when it has come.',
  amnesia: 'A master that has restarted empty votes at once.',
};

export const createLock = adapt<Redlock.Lock>(({ masters, key, leaseMs }) => {
  const open = (retryCount: number) => new Redlock(masters, { retryCount });

  async function tryOnce() {
    try {
      return await open(0).lock(key, leaseMs);
    } catch (error) {
      if (error instanceof Redlock.LockError) return undefined;
      throw error;
    }
  }

  async function release(lock: Redlock.Lock) {
    try {
      await lock.unlock();
    } catch (error) {
      if (error instanceof Redlock.LockError) return false;
      throw error;
    }
  }

  return { wait: async () => open(-1).lock(key, leaseMs), tryOnce, release };
});
