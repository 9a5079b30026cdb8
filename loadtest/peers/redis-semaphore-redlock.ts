// redis-semaphore 5: its RedlockMutex, in all masters.

import { RedlockMutex } from 'redis-semaphore';
import type { Promises } from '../evidence/promises.ts';
import { adaptMutex, semaphoreDoesNotPromise, semaphoreOptions } from './semaphore-family.ts';

export const options = { clients: 'one for each of five masters', ...semaphoreOptions };

export const promises: Promises = { renewal: true, masters: true };

export const doesNotPromise = {
  ...semaphoreDoesNotPromise,
  amnesia:
    'The algorithm requires that a master that restarts empty stays down for a lease. The drill starts it at once.',
};

export const createLock = adaptMutex(({ masters, key }, settings) => new RedlockMutex(masters, key, settings));
