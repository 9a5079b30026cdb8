// redis-lock 1, with the client that it asks for: node-redis 4.
// What it says of itself: https://www.npmjs.com/package/redis-lock/v/1.0.0

import { createClient } from 'redis-4';
import redisLock, { type Done, type Lock } from 'redis-lock';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled, oneServer, tryFor } from './adapter.ts';

/** It knows no single try: so long it may ask, in milliseconds, before what it gets is given back. Its next try comes after 50 ms. */
const TRY_MS = 40;

export const options = {
  client: 'a node-redis 4 client of its own for each process: it refuses newer ones',
  timeout: 'the lease',
  'single try': `lock() for ${TRY_MS} ms; a lock that is granted later is released`,
};

export const promises: Promises = {};

export const doesNotPromise = {
  'redis-outage': 'While Redis is unavailable it keeps trying: "The code will keep polling".',
  'contract-keys': 'It puts `lock.` before the name that it is given.',
  'contract-not-held':
    'done() does not report that the lock was no longer held: "or do nothing if timeout has already released it".',
  ...cannotBeCancelled('lock()'),
};

const locks = new Map<string, Promise<Lock>>();

async function open(url: string): Promise<Lock> {
  const client = createClient({ url });
  // A command that waits rejects.
  client.on('error', () => {});
  await client.connect();
  return redisLock(client);
}

export const createLock = adapt<Done>(({ redis, key, leaseMs }) => {
  const { host, port } = oneServer(redis).options;
  const url = `redis://${host}:${port}`;
  const opened = locks.get(url) ?? open(url);
  locks.set(url, opened);

  const wait = async () => (await opened)(key, leaseMs);

  async function tryOnce() {
    await opened;
    return tryFor(TRY_MS, wait, (done) => done());
  }

  return { wait, tryOnce, release: (done) => done() };
});
