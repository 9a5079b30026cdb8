import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/fair.ts';
import { connectStore } from '../../../services/inventory/store.ts';
import { atLeast, atMost } from '../../machine.ts';
import { aborted, lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { startHolder } from '../start-holder.ts';
import { watchClient } from '../watched-client.ts';

const { url, connect, key, signal } = ownRedis();

/** How long a lease lasts that no test waits for. */
const LONG_MS = 30_000;

test('fair: who asked first enters first, over two connections', async () => {
  const redis = connect();
  const nodes = [connect(), connect()];
  const order: number[] = [];
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();

  const waiters: Promise<void>[] = [];
  for (let asked = 0; asked < 20; asked += 1) {
    // First both in turns, then each several times.
    const node = nodes[asked < 10 ? asked % 2 : asked % 5 > 2 ? 1 : 0] as Redis;
    waiters.push(enterAndLeave(node, () => order.push(asked)));
    await untilWaiting(redis, asked + 1);
  }
  await a.release();
  await Promise.all(waiters);

  expect(order).toEqual(Array.from({ length: 20 }, (_, asked) => asked));
});

test('fair: who asked first enters first, over two processes', async () => {
  const redis = connect();
  const order: string[] = [];
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const b = await startHolder({ stage: 'fair', url: url(), key: key(), until: 'asking' });
  await untilWaiting(redis, 1);
  const c = enterAndLeave(redis, () => order.push('c'));
  await untilWaiting(redis, 2);
  const d = await startHolder({ stage: 'fair', url: url(), key: key(), until: 'asking' });
  await untilWaiting(redis, 3);

  await a.release();
  await b.untilSaid('entered');
  expect(order).toEqual([]);
  b.resume();
  await c;
  await d.untilSaid('entered');

  d.resume();
  await d.untilSaid('released');
});

test('fair: a newcomer does not overtake a waiter that was handed the lock and has not entered yet', async () => {
  const redis = connect();
  const order: string[] = [];
  const a = createLock(lockOptions({ redis, key: key() }));
  const c = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const b = await startHolder({ stage: 'fair', url: url(), key: key(), until: 'asking' });
  await untilWaiting(redis, 1);
  b.pause();

  await a.release();
  await expect(c.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  const waited = enterAndLeave(redis, () => order.push('c'));
  await untilWaiting(redis, 1);
  b.wake();
  await b.untilSaid('entered');
  expect(order).toEqual([]);
  b.resume();
  await waited;

  expect(order).toEqual(['c']);
});

test('fair: a release wakes the first waiter, and no other', async () => {
  const redis = connect();
  const watches = [watchClient(connect()), watchClient(connect())] as const;
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const waits: Promise<void>[] = [];
  const waiters = [0, 0, 1].map((node) =>
    createLock(lockOptions({ redis: watches[node]?.client as Redis, key: key() })),
  );
  for (const [asked, waiter] of waiters.entries()) {
    waits.push(waiter.acquire());
    await untilWaiting(redis, asked + 1);
  }
  await untilListening(redis, 2);
  const asked = watches.map(({ sent }) => sent.length);

  await a.release();
  await waits[0];
  for (const { client } of watches) await quiet(client);

  expect(watches.map(({ sent }) => sent.length)).toEqual(asked);
  for (const [at, waiter] of waiters.entries()) {
    await waits[at];
    await waiter.release();
  }
});

test('fair: a release between the ask and the subscription is not missed', async () => {
  const watch = watchClient(connect());
  const a = createLock(lockOptions({ redis: connect(), key: key(), leaseMs: LONG_MS }));
  await a.acquire();
  const failedAsk = watch.holdAnswer('evalsha');
  const startedAt = performance.now();

  const b = enterAndLeave(watch.client, () => {});
  await failedAsk.reached;
  await watch.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await a.release();
  failedAsk.letGo();
  await b;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
});

test('fair: a waiter that gives up leaves the queue at once, and the next one enters', async () => {
  const redis = connect();
  const patience = new AbortController();
  const order: string[] = [];
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  const b = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  await a.acquire();
  const startedAt = performance.now();
  const gone = b.acquire(patience.signal);
  await untilWaiting(redis, 1);
  const c = enterAndLeave(redis, () => order.push('c'));
  await untilWaiting(redis, 2);

  patience.abort();
  await expect(gone).rejects.toMatchObject(aborted);
  expect(await redis.llen(`${key()}:queue`)).toBe(1);
  await a.release();
  await c;

  expect(order).toEqual(['c']);
  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
});

test('fair: a waiter whose sign of life is refused makes way for the next one', async () => {
  const leaseMs = 600;
  const watch = watchClient(connect());
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  const b = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs }));
  await a.acquire();
  const startedAt = performance.now();
  const gone = b.acquire();
  await untilWaiting(redis, 1);
  await untilListening(redis);
  const c = enterAndLeave(redis, () => {});
  await untilWaiting(redis, 2);
  const isRefused = expect(gone).rejects.toThrow('Connection is closed.');

  await watch.fail('evalsha', new Error('Connection is closed.'));
  await isRefused;
  await untilWaiting(redis, 1);
  await a.release();
  await c;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
});

test('fair: killed waiters cost a lease at most, however many they are', async () => {
  const leaseMs = 600;
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  await a.acquire();
  const killed = [];
  for (const asked of [1, 2, 3]) {
    killed.push(await startHolder({ stage: 'fair', url: url(), key: key(), leaseMs, until: 'asking' }));
    await untilWaiting(redis, asked);
  }
  const entered = enterAndLeave(redis, () => {}, leaseMs);
  await untilWaiting(redis, 4);

  for (const { kill } of killed) await kill();
  await untilListening(redis, 1);
  const startedAt = performance.now();
  await a.release();
  await entered;

  // Its end is noticed a third of one later.
  expect(performance.now() - startedAt).toBeLessThan(atMost(1.5 * leaseMs));
  for (const { said } of killed) expect(said).toEqual(['asking']);
  expect(await redis.exists(key(), `${key()}:queue`)).toBe(0);
  await redis.del(`${key()}:suspect`);
});

test('fair: a process that stands still costs two leases, however many wait in it', async () => {
  const leaseMs = 400;
  const redis = connect();
  const stopped = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  await a.acquire();
  // This client stands for a process that is stopped: it is still subscribed, but does nothing when it is told.
  await stopped.subscribe(`${key()}:stopped`);
  await redis.rpush(`${key()}:queue`, ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `stopped:${leaseMs}:hears:b:${n}`));
  const entered = enterAndLeave(redis, () => {}, leaseMs);
  await untilWaiting(redis, 9);

  const startedAt = performance.now();
  await a.release();
  await entered;

  const waitedMs = performance.now() - startedAt;
  expect(waitedMs).toBeGreaterThanOrEqual(atLeast(leaseMs));
  // Each lease is noticed a third of one later.
  expect(waitedMs).toBeLessThan(atMost(3 * leaseMs));
  expect(await redis.exists(key(), `${key()}:queue`)).toBe(0);
  await redis.del(`${key()}:suspect`);
});

test('fair: a waiter that slept through its turn does not enter beside another one', async () => {
  const leaseMs = 600;
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  const c = createLock(lockOptions({ redis, key: key(), leaseMs }));
  await a.acquire();
  const b = await startHolder({ stage: 'fair', url: url(), key: key(), leaseMs, until: 'asking' });
  await untilWaiting(redis, 1);
  const entered = c.acquire();
  await untilWaiting(redis, 2);
  b.pause();
  await a.release();
  await entered;

  b.wake();
  // It has lost its place, and asks for another one.
  while ((await redis.llen(`${key()}:queue`)) === 0) expect(b.said).toEqual(['asking']);
  expect(b.said).toEqual(['asking']);
  await c.release();
  await b.untilSaid('entered');

  b.resume();
  await b.untilSaid('released');
});

test('fair: a message about an earlier wait lets nobody in', async () => {
  const redis = connect();
  const queue = `${key()}:queue`;
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  const b = createLock(lockOptions({ redis: connect(), key: key(), leaseMs: 600 }));
  let isInside = false;
  await a.acquire();
  const entered = b.acquire().then(() => (isInside = true));
  await untilWaiting(redis, 1);
  await untilListening(redis);
  const [earlier = ''] = await redis.lrange(queue, 0, -1);

  // It has lost its place, and asks for another one.
  await redis.del(queue);
  await untilWaiting(redis, 1);
  expect(await redis.publish(`${key()}:${earlier.split(':')[0]}`, earlier)).toBe(1);
  await quiet(redis);
  expect(isInside).toBe(false);
  await a.release();

  await entered;
  await b.release();
});

test('fair: a lock that is handed on has the lease of who gets it', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: 1_000 }));
  const b = createLock(lockOptions({ redis: connect(), key: key(), leaseMs: LONG_MS }));
  await a.acquire();
  const entered = b.acquire();
  await untilWaiting(redis, 1);
  await untilListening(redis);

  await a.release();
  await entered;

  expect(await redis.pttl(key())).toBeGreaterThan(1_000);
  await b.release();
});

test('fair: another lock object of the same request shares the hold', async () => {
  const redis = connect();
  const ownerToken = 'the same request';
  const a = createLock(lockOptions({ redis, key: key(), ownerToken }));
  const again = createLock(lockOptions({ redis, key: key(), ownerToken }));
  await a.acquire();
  const b = enterAndLeave(redis, () => {});
  await untilWaiting(redis, 1);

  await again.acquire();
  await again.release();
  expect(await redis.llen(`${key()}:queue`)).toBe(1);
  await a.release();

  await b;
});

test('fair: an acquisition that waits in a queue takes ten commands of Redis at most', async () => {
  const redis = connect();
  const nodes = [connect(), connect()];
  const rounds = 40;
  const waiters = 20;
  async function enterOften(node: Redis) {
    for (let round = 0; round < rounds; round += 1) await enterAndLeave(node, () => {});
  }
  const before = await commandsOf(redis);

  await Promise.all(Array.from({ length: waiters }, (_, n) => enterOften(nodes[n % 2] as Redis)));

  const each = ((await commandsOf(redis)) - before) / (rounds * waiters);
  expect(each).toBeGreaterThan(8);
  expect(each).toBeLessThan(10);
});

test('fair: a waiter keeps its place for longer than its lease', async () => {
  const redis = connect();
  const order: string[] = [];
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const b = enterAndLeave(connect(), () => order.push('b'), 600);
  await untilWaiting(redis, 1);
  const c = enterAndLeave(redis, () => order.push('c'));
  await untilWaiting(redis, 2);

  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await a.release();
  await Promise.all([b, c]);

  expect(order).toEqual(['b', 'c']);
});

test('fair: a waiter enters when the lease of a holder that died has ended', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const startedAt = performance.now();
  await redis.set(key(), 'dead', 'PX', 400);

  await enterAndLeave(watch.client, () => {});

  // Redis counts in whole milliseconds.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(atLeast(400));
  expect(performance.now() - startedAt).toBeLessThan(atMost(1_000));
  expect(watch.sent.length).toBeLessThanOrEqual(6);
});

test('fair: a holder takes its own lock once more while others wait for it', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const b = enterAndLeave(redis, () => {});
  await untilWaiting(redis, 1);

  await a.acquire();
  await a.release();
  await a.release();

  await b;
});

test('fair: waiters that were refused while Redis stood still leave the queue when it is back', async () => {
  const store = connectStore(url());
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS }));
  await a.acquire();
  await store.back();
  const ends = Array.from({ length: 20 }, () =>
    createLock(lockOptions({ redis: store.redis, key: key(), leaseMs: LONG_MS }))
      .acquire()
      .catch((error) => error.message),
  );
  await untilWaiting(redis, 20);

  signal('SIGSTOP');
  const stoppedAt = performance.now();
  const messages = await Promise.all(ends);
  const refusedMs = performance.now() - stoppedAt;
  signal('SIGCONT');
  const backAt = performance.now();
  await untilWaiting(redis, 0);
  await a.release();
  await enterAndLeave(redis, () => {});

  expect(refusedMs).toBeLessThan(atMost(1_300));
  for (const message of messages) expect(message).toMatch(/Stream isn't writeable|closed|max retries/i);
  expect(performance.now() - backAt).toBeLessThan(atMost(2_000));
  store.redis.disconnect();
});

test('fair: waiters that leave a free lock when Redis is back do not wake each other', async () => {
  const stores = [connectStore(url()), connectStore(url())];
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LONG_MS, onLeaseLost() {} }));
  await a.acquire();
  await Promise.all(stores.map((store) => store.back()));
  const ends = Array.from({ length: 200 }, (_, n) =>
    createLock(lockOptions({ redis: stores[n % 2]?.redis as Redis, key: key(), leaseMs: LONG_MS }))
      .acquire()
      .catch(() => {}),
  );
  await untilWaiting(redis, 200);
  await untilListening(redis, 2);
  await redis.del(key());
  const before = await publishedBy(redis);

  signal('SIGSTOP');
  await Promise.all(ends);
  signal('SIGCONT');
  await untilWaiting(redis, 0);
  await quiet(redis);

  // Each that leaves tells the next one.
  expect((await publishedBy(redis)) - before).toBeLessThanOrEqual(200);
  await expect(a.release()).rejects.toThrow();
  for (const store of stores) store.redis.disconnect();
});

/** How many commands this Redis has carried out so far, those in scripts included. */
async function commandsOf(redis: Redis) {
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(/:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

/** How many messages this Redis has been given. */
async function publishedBy(redis: Redis) {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_publish:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

async function enterAndLeave(redis: Redis, onEnter: () => void, leaseMs = LONG_MS) {
  const lock = createLock(lockOptions({ redis, key: key(), leaseMs }));
  await lock.acquire();
  onEnter();
  await lock.release();
}

/** Resolves when so many wait in the queue of this test. */
async function untilWaiting(redis: Redis, count: number) {
  while ((await redis.llen(`${key()}:queue`)) !== count);
}

/** Resolves when so many processes listen to the releases, and have asked what they ask then. */
async function untilListening(redis: Redis, count = 1) {
  while ((await redis.pubsub('CHANNELS', `${key()}:*`)).length !== count);
  await quiet(redis);
}

/** Gives a waiter that wants to ask the time to do so. */
async function quiet(redis: Redis) {
  for (let round = 0; round < 20; round += 1) await redis.ping();
}
