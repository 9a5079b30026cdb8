// redis-semaphore 5: its RedlockMutex, in all masters.

import { RedlockMutex } from 'redis-semaphore';
import type { Promises } from '../evidence/promises.ts';
import { adaptMutex, onLockLostSaid, readme, semaphoreDoesNotPromise, semaphoreOptions } from './semaphore-family.ts';

export const options = { clients: 'one for each of five masters', ...semaphoreOptions };

export const promises: Promises = { renewal: true, masters: true };

export const claims = [
  { quote: 'Distributed `Mutex` version', source: readme },
  {
    quote: 'See [The Redlock algorithm](https://redis.io/topics/distlock#the-redlock-algorithm)',
    source: readme,
  },
  { quote: onLockLostSaid, source: readme },
];

export const doesNotPromise = {
  'nested-call': 'Its RedlockMutex is not reentrant.',
  ...semaphoreDoesNotPromise,
  amnesia: 'The algorithm asks that a master that restarts empty stays away for a lease; the drill starts it at once.',
};

export const because = {
  'frozen-master':
    'It waits for the answer of every master, however long that takes. Here the connection gives up after 700 ms, and then fails at once until the master answers: the first sale pays, and the others do not.',
  'late-votes': 'acquire() does not look at the time that is left.',
  amnesia: 'A master that has restarted empty votes at once.',
};

export const createLock = adaptMutex(({ masters, key }, settings) => new RedlockMutex(masters, key, settings));
