import { setMaxListeners } from 'node:events';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/blocking.ts';
import { connectStore } from '../../../services/inventory/store.ts';
import { atLeast, atMost } from '../../machine.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { startHolder } from '../start-holder.ts';
import { watchClient } from '../watched-client.ts';

const { url, connect, key, signal } = ownRedis();

/** How long a lease lasts that no test waits for. */
const LONG_MS = 30_000;

test('blocking: a waiter asks nothing until the release is published, then enters at its next try', async () => {
  const watch = watchClient(connect());
  const a = createLock(lockOptions({ redis: connect(), key: key() }));
  const b = createLock(lockOptions({ redis: watch.client, key: key() }));
  await a.acquire();
  const entered = b.acquire();
  await untilListening(watch.client, key());
  const tries = watch.sent.length;
  await quiet(watch.client);
  expect(watch.sent).toHaveLength(tries);

  await a.release();
  await entered;

  expect(watch.sent).toHaveLength(tries + 1);
  await b.release();
});

test('blocking: a release between the failed try and the subscription is not missed', async () => {
  const watch = watchClient(connect());
  const a = createLock(lockOptions({ redis: connect(), key: key(), leaseMs: LONG_MS }));
  const b = createLock(lockOptions({ redis: watch.client, key: key() }));
  await a.acquire();
  const failedTry = watch.holdAnswer('evalsha');
  const startedAt = performance.now();

  const entered = b.acquire();
  await failedTry.reached;
  await a.release(); // Nobody listens yet.
  failedTry.letGo();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
  await b.release();
});

test('blocking: a release while the subscription is broken is not missed', async () => {
  const redis = connect();
  const holder = connect();
  const a = createLock(lockOptions({ redis: holder, key: key(), leaseMs: LONG_MS }));
  const b = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const startedAt = performance.now();
  const entered = b.acquire();
  await untilListening(redis, key());

  await holder.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await a.release();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
  await b.release();
});

test('blocking: fifty waiters of one process share one subscription, and a release wakes one of them', async () => {
  const waiting = connect();
  // A client that gets ready looks whether it has missed something: one more try.
  await waiting.ping();
  const watch = watchClient(waiting);
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const patience = new AbortController();
  setMaxListeners(50, patience.signal);
  const locks = Array.from({ length: 50 }, () => createLock(lockOptions({ redis: watch.client, key: key() })));
  const ends = Promise.allSettled(locks.map((lock) => lock.acquire(patience.signal).then(() => lock)));
  await untilListening(redis, key());
  await quiet(watch.client);
  const tries = watch.sent.length;
  // The try of the first waiter, and the one after it was subscribed.
  expect(tries).toBe(2);
  expect(await listeners(redis, key())).toBe(1);

  const woken = watch.holdAnswer('evalsha');
  await a.release();
  await woken.reached;
  woken.letGo();
  await quiet(watch.client);

  expect(watch.sent).toHaveLength(tries + 1);
  patience.abort();
  const inside = (await ends).filter((end) => end.status === 'fulfilled');
  expect(inside).toHaveLength(1);
  await inside[0]?.value.release();
});

test('blocking: a newcomer stands behind the waiters of its process, and asks nothing', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const order: string[] = [];
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const waiters = ['b', 'c', 'd'].map(async (name) => {
    const lock = createLock(lockOptions({ redis: watch.client, key: key() }));
    await lock.acquire();
    order.push(name);
    await lock.release();
  });
  await untilListening(redis, key());
  await quiet(redis);
  expect(watch.sent).toHaveLength(2);

  await a.release();
  await Promise.all(waiters);

  expect(order).toEqual(['b', 'c', 'd']);
});

test('blocking: when the first waiter gives up, the next one hears of the release', async () => {
  const redis = connect();
  const patience = new AbortController();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  const [b, c] = [1, 2].map(() => createLock(lockOptions({ redis, key: key() })));
  await a.acquire();
  const startedAt = performance.now();
  const first = b?.acquire(patience.signal);
  const second = c?.acquire();
  await untilListening(redis, key());

  patience.abort();
  await expect(first).rejects.toMatchObject(aborted);
  await a.release();
  await second;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
  await c?.release();
});

test('blocking: the last waiter that leaves ends the subscription', async () => {
  const redis = connect();
  const patience = new AbortController();
  const a = createLock(lockOptions({ redis, key: key() }));
  const b = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const entered = b.acquire(patience.signal);
  await untilListening(redis, key());

  patience.abort();

  await expect(entered).rejects.toMatchObject(aborted);
  while ((await listeners(redis, key())) > 0);
  await a.release();
});

test('blocking: a waiter enters when the lease of a holder that died has ended, and hardly asks', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const b = createLock(lockOptions({ redis: watch.client, key: key() }));
  await redis.hset(key(), 'dead', 1);
  const startedAt = performance.now();
  await redis.pexpire(key(), 400);

  await b.acquire();

  // Redis counts in whole milliseconds.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(atLeast(400));
  expect(performance.now() - startedAt).toBeLessThan(atMost(1_000));
  expect(watch.sent.length).toBeLessThanOrEqual(5);
  await b.release();
});

test('blocking: a holder takes its own lock once more while others wait for it', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  const b = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const entered = b.acquire();
  await untilListening(redis, key());

  await a.acquire();
  await a.release();
  await a.release();

  await entered;
  await b.release();
});

test('blocking: a release in another process wakes the waiters of this one', async () => {
  const redis = connect();
  const a = await startHolder({ stage: 'blocking', url: url(), key: key(), leaseMs: LONG_MS });
  const b = createLock(lockOptions({ redis, key: key() }));
  const startedAt = performance.now();
  const entered = b.acquire();
  await untilListening(redis, key());

  a.resume();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
  await b.release();
});

test('blocking: tryLock tells whether the lock came in time', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  const b = createLock(lockOptions({ redis, key: key() }));
  expect(await a.tryLock(0)).toBe(true);

  expect(await b.tryLock(0)).toBe(false);
  const startedAt = performance.now();
  expect(await b.tryLock(100)).toBe(false);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(atLeast(100));
  const inTime = b.tryLock(LONG_MS);
  await a.release();

  expect(await inTime).toBe(true);
  await b.release();
});

test('blocking: tryLock with a lease of its own is not renewed, without one it is', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 150 }));
  const b = createLock(lockOptions({ redis, key: key() }));
  await a.tryLock(0, 300);
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(150);
  expect(ttl).toBeLessThanOrEqual(300);

  await b.acquire();

  expect(watch.sent).toEqual(['evalsha']);
  await expect(a.release()).rejects.toMatchObject(notHeld);
  await b.release();
  await a.tryLock(0);
  expect(await watch.nextAnswer('evalsha')).toBe(1);
  await a.release();
});

test('blocking: a try within a hold that is renewed shortens its lease neither when it comes nor when it goes', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  await a.acquire();

  expect(await a.tryLock(0, 100)).toBe(true);
  expect(await redis.pttl(key())).toBeGreaterThan(LONG_MS / 2);
  await a.release();

  expect(await redis.pttl(key())).toBeGreaterThan(LONG_MS / 2);
  await a.release();
});

test('blocking: waiters are refused within a second when Redis stands still, and leave nothing', async () => {
  const { redis, back } = connectStore(url());
  const a = createLock(lockOptions({ redis: connect(), key: key() }));
  await a.acquire();
  await back();
  const ends = Array.from({ length: 20 }, () =>
    createLock(lockOptions({ redis, key: key() }))
      .acquire()
      .catch((error) => error.message),
  );
  await untilListening(connect(), key());

  signal('SIGSTOP');
  const stoppedAt = performance.now();
  const messages = await Promise.all(ends);
  const refusedMs = performance.now() - stoppedAt;
  signal('SIGCONT');

  expect(refusedMs).toBeLessThan(atMost(1_300));
  for (const message of messages) expect(message).toMatch(/Stream isn't writeable|closed|max retries/i);
  await a.release();
  redis.disconnect();
});

/** Resolves when this lock has a listener in some process, and Redis has answered what it asked since. */
async function untilListening(redis: Redis, key: string) {
  while ((await listeners(redis, key)) === 0);
  await quiet(redis);
}

/** Gives a waiter that wants to ask the time to do so. */
async function quiet(redis: Redis) {
  for (let round = 0; round < 20; round += 1) await redis.ping();
}

async function listeners(redis: Redis, key: string) {
  return ((await redis.call('PUBSUB', 'NUMSUB', `${key}:released`)) as [string, number])[1];
}
