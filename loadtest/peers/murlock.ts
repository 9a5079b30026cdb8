// murlock 4: its MurLockService, by `runWithLock()`, in a NestJS 11 that has nothing else. It makes its own client: node-redis 4.
// What it says of itself: https://www.npmjs.com/package/murlock/v/4.4.0

import { NestFactory } from '@nestjs/core';
import { MurLockException, MurLockModule, MurLockService } from 'murlock';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled, enter, type Inside, oneServer } from './adapter.ts';

export const options = {
  redisOptions: 'two connections of its own for each process, one for each of the two ways to ask',
  releaseTime: 'the lease',
  blocking: 'true while it waits; false, with maxAttempts 1, for a single try',
  wait: 'the delay between two tries, 20 ms in the drills',
};

export const promises: Promises = {};

export const doesNotPromise = {
  'redis-outage': 'While Redis is unavailable it keeps trying: its documentation says so about the blocking mode.',
  ...cannotBeCancelled('runWithLock()'),
};

/** The service, made by NestJS. */
async function open(url: string, wait: number, isBlocking: boolean): Promise<MurLockService> {
  const options = { redisOptions: { url }, wait, maxAttempts: 1, logLevel: 'none', blocking: isBlocking } as const;
  const app = await NestFactory.createApplicationContext(MurLockModule.forRoot(options), { logger: false });
  return app.get(MurLockService);
}

const services = new Map<string, Promise<MurLockService>>();

export const createLock = adapt<Inside>(({ redis, key, leaseMs, retryDelayMs }) => {
  const { host, port } = oneServer(redis).options;

  function serviceOf(isBlocking: boolean) {
    const name = `${host}:${port} ${retryDelayMs} ${isBlocking}`;
    const service = services.get(name) ?? open(`redis://${host}:${port}`, retryDelayMs, isBlocking);
    services.set(name, service);
    return service;
  }

  async function use(isBlocking: boolean) {
    const service = await serviceOf(isBlocking);
    return enter((inside) => service.runWithLock(key, leaseMs, () => inside()));
  }

  return {
    wait: () => use(true),
    tryOnce: () => use(false),
    release({ leave, left }) {
      leave();
      return left;
    },
    // It throws the same class for all that goes wrong.
    isRefusal: (error) =>
      error instanceof MurLockException && /after 1 attempts|: Failed to release lock for key/.test(error.message),
  };
});
