// redis-semaphore 5: its Mutex, in one Redis.

import { Mutex } from 'redis-semaphore';
import type { Promises } from '../evidence/promises.ts';
import { oneServer } from './adapter.ts';
import { adaptMutex, semaphoreDoesNotPromise, semaphoreOptions } from './semaphore-family.ts';

export const options = semaphoreOptions;

export const promises: Promises = { renewal: true };

export const doesNotPromise = semaphoreDoesNotPromise;

export const createLock = adaptMutex(({ redis, key }, settings) => new Mutex(oneServer(redis), key, settings));
