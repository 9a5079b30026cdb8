// simple-redis-mutex 3, with the client that it asks for: node-redis 5.
// What it says of itself: https://www.npmjs.com/package/simple-redis-mutex/v/3.0.0

import { createClient } from 'redis';
import { lock, type ReleaseFunc, tryLock } from 'simple-redis-mutex';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled, oneServer } from './adapter.ts';

export const options = {
  redis: 'a node-redis client of its own for each process, and one that it makes from it to receive releases',
  timeout: 'the lease',
  pollingInterval: '10 s, or the lease when that is shorter',
  failAfter: 'none',
};

export const promises: Promises = { fencing: true };

export const doesNotPromise = {
  ...cannotBeCancelled('lock()'),
  'contract-keys':
    'It puts `@simple-redis-mutex:` before the name that it is given, and has two keys for all locks together.',
  'contract-not-held': 'release() does not report that the lock was no longer held.',
};

const clients = new Map<string, ReturnType<typeof connect>>();

async function connect(url: string) {
  const client = createClient({ url });
  // A command that waits rejects.
  client.on('error', () => {});
  return client.connect();
}

export const createLock = adapt<ReleaseFunc>(({ redis, key, leaseMs }) => {
  const { host, port } = oneServer(redis).options;
  const url = `redis://${host}:${port}`;
  const connected = clients.get(url) ?? connect(url);
  clients.set(url, connected);

  async function wait() {
    return lock(await connected, key, { timeout: leaseMs, pollingInterval: Math.min(10_000, leaseMs) });
  }

  async function tryOnce() {
    const [isHeld, release] = await tryLock(await connected, key, { timeout: leaseMs });
    return isHeld ? release : undefined;
  }

  return {
    wait,
    tryOnce,
    release: (leave) => leave(),
    fencingToken: ({ fencingToken }) => (fencingToken === undefined ? undefined : String(fencingToken)),
  };
});
