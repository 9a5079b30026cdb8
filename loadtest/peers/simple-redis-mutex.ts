// simple-redis-mutex 3, with the client that it asks for: node-redis 5.

import { createClient } from 'redis';
import { lock, type ReleaseFunc, tryLock } from 'simple-redis-mutex';
import { adapt } from './adapter.ts';
import { oneServer } from './peer.ts';

export const options = {
  redis: 'a node-redis client of its own for each process, and the one that it makes of it to hear of releases',
  timeout: 'the lease',
  pollingInterval: '10 s, or the lease when that is shorter',
  failAfter: 'none',
};

export const doesNotPromise = {
  'late-release': 'release() does not tell that the lock was no longer held.',
  'nested-call': 'It is not reentrant.',
  'long-sale': 'It renews nothing by itself: the holder has to call refreshTimeout().',
  'client-gone': 'lock() cannot be cancelled: a waiter that has gone gets the lock once more and gives it back.',
  'clock-jump': 'Its lease is counted by the clock of one Redis.',
  'paused-process':
    'It counts a fencing token in a command of its own after the lock, so that tokens may overtake each other.',
  'blocked-loop':
    'It counts a fencing token in a command of its own after the lock, so that tokens may overtake each other.',
  'late-write':
    'It counts a fencing token in a command of its own after the lock, so that tokens may overtake each other.',
  'crossed-write':
    'It counts a fencing token in a command of its own after the lock, so that tokens may overtake each other.',
  failover: 'It knows one Redis.',
  'forgotten-sale': 'The stock is in Redis, whatever the lock does.',
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

  return { wait, tryOnce, release: (leave) => leave() };
});
