import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/cohort.ts';
import { LockNotHeldError, type RedisClient } from '../../../locks/lock.ts';
import { bundledArgs } from '../../../scripts/stack/bundle.ts';
import { connectStore } from '../../../services/inventory/store.ts';
import { atMost } from '../../machine.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { startHolder } from '../start-holder.ts';
import { watchClient } from '../watched-client.ts';

const { url, connect, key, signal } = ownRedis();
const queue = () => `${key()}:queue`;

/** The bound of a tenure while another node waits. */
const HOLDERS = 512;
const TENURE_MS = 100;
/** How long after it was let in a holder may note that, on a busy machine. */
const NOTED_WITHIN_MS = 20;

test('cohort: the waiters of a node enter in the order of asking, and passing on sends nothing', async () => {
  const watch = watchClient(connect());
  const order: number[] = [];
  const ours = newLocks(20, watch.client);
  // A tenure counts from when Redis is asked, which is not before there is a connection.
  await watch.client.ping();
  const entered = ours.map((lock, index) => lock.acquire().then(() => order.push(index)));
  await entered[0];
  const sent = watch.sent.length;

  for (const [index, lock] of ours.slice(0, -1).entries()) {
    await lock.release();
    await entered[index + 1];
  }

  expect(order).toEqual(ours.map((_, index) => index));
  expect(watch.sent).toHaveLength(sent);
  await ours.at(-1)?.release();
  expect(await connect().exists(key())).toBe(0);
});

test('cohort: a release wakes the next waiter and no other, before it returns', async () => {
  const redis = connect();
  const [a, b, c] = newLocks(3, redis) as [Lock, Lock, Lock];
  const order: string[] = [];
  await a.acquire();
  const entered = b.acquire().then(() => order.push('b enters'));
  const last = c.acquire().then(() => order.push('c enters'));

  const released = a.release().then(() => order.push('a has released'));
  await entered;
  await released;
  await redis.ping();

  expect(order.slice(0, 2).sort()).toEqual(['a has released', 'b enters']);
  expect(order).toHaveLength(2);
  await b.release();
  await last;
  await c.release();
});

test('cohort: a holder enters its own lock again while others wait for it', async () => {
  const [a, b] = newLocks(2, connect()) as [Lock, Lock];
  await a.acquire();
  const entered = b.acquire();
  let isIn = false;
  entered.then(() => (isIn = true));

  await a.acquire();
  await a.release();
  await connect().ping();

  expect(isIn).toBe(false);
  await a.release();
  await entered;
  await b.release();
});

test(`cohort: while another node waits, a tenure ends after ${HOLDERS} holders`, async () => {
  const redis = connect();
  const first = newLock(connect());
  const ours = newLocks(HOLDERS + 10, connect());
  const theirs = newLock(connect());
  const order: string[] = [];
  await first.acquire();
  const entered = ours.map((lock) => lock.acquire().then(() => order.push('ours')));
  await untilQueued(redis);
  const theirsEntered = theirs.acquire().then(() => order.push('theirs'));
  await untilQueued(redis, 2);
  await untilListening(redis, 2);
  const startedAt = performance.now();
  await first.release();

  for (const [index, lock] of ours.slice(0, HOLDERS).entries()) {
    await Promise.race([entered[index], theirsEntered]);
    // On a busy machine the time may be over before so many have been in.
    if (order.includes('theirs')) break;
    await lock.release();
  }
  const isInTime = performance.now() - startedAt < TENURE_MS;
  await theirsEntered;

  expect(order.indexOf('theirs')).toBeLessThanOrEqual(HOLDERS);
  if (isInTime) expect(order.indexOf('theirs')).toBe(HOLDERS);
  await theirs.release();
  await leaveInTurn(ours.slice(order.indexOf('theirs')), entered.slice(order.indexOf('theirs')));
});

test(`cohort: while another node waits, a tenure ends after ${TENURE_MS} ms`, async () => {
  const redis = connect();
  const ours = newLocks(3, redis);
  const theirs = newLock(connect());
  const entered = ours.map((lock) => lock.acquire());
  await entered[0];
  const theirsEntered = theirs.acquire();
  await untilQueued(redis);
  await untilListening(redis, 2);
  await sleep(TENURE_MS);

  await ours[0]?.release();
  await theirsEntered;

  expect(await redis.hlen(key())).toBe(1);
  await theirs.release();
  await leaveInTurn(ours.slice(1), entered.slice(1));
});

test('cohort: while no other node waits, the bound costs one look in Redis', async () => {
  const watch = watchClient(connect());
  const ours = newLocks(2 * HOLDERS + 10, watch.client);
  const entered = ours.map((lock) => lock.acquire());
  await entered[0];
  await untilListening(watch.client);
  const sent = watch.sent.length;
  const startedAt = performance.now();

  await leaveInTurn(ours.slice(0, -1), entered);
  await entered.at(-1);

  // A slow machine meets the bound in time more often.
  const looks = 3 + Math.floor((performance.now() - startedAt) / TENURE_MS);
  expect(watch.sent.length - sent).toBeGreaterThanOrEqual(2);
  expect(watch.sent.length - sent).toBeLessThanOrEqual(looks);
  await ours.at(-1)?.release();
});

test('cohort: two processes share the lock, neither waits longer than the bound, and no update is lost', async () => {
  const redis = connect();
  const args = [...(await bundledArgs('test/locks/beyond/sharing-process.ts')), url(), key()];
  const runs = await Promise.all([1, 2].map(() => promisify(execFile)(process.execPath, args)));
  const nodes = runs.map(({ stdout }) => JSON.parse(stdout) as { enteredAt: number[]; standstillMs: number });

  const entries = nodes
    .flatMap(({ enteredAt }, node) => enteredAt.map((at) => ({ node, at })))
    .sort((a, b) => a.at - b.at);
  const tenures: { node: number; from: number; to: number; holders: number }[] = [];
  for (const { node, at } of entries) {
    const present = tenures.at(-1);
    if (present?.node === node) Object.assign(present, { to: at, holders: present.holders + 1 });
    else tenures.push({ node, from: at, to: at, holders: 1 });
  }
  // At both ends a node may be alone: then its tenure begins anew.
  const contended = tenures.slice(1, -1);

  expect(contended.length).toBeGreaterThan(2);
  expect(Math.max(...contended.map(({ holders }) => holders))).toBeLessThanOrEqual(HOLDERS);
  // A node that stands still does not ask for its turn meanwhile, and the other one keeps the lock.
  const standstillMs = Math.max(...nodes.map((node) => node.standstillMs));
  const longestMs = TENURE_MS + NOTED_WITHIN_MS + standstillMs;
  expect(Math.max(...contended.map(({ from, to }) => to - from))).toBeLessThanOrEqual(longestMs);
  expect(Number(await redis.get(`${key()}:count`))).toBe(entries.length);
  await redis.del(`${key()}:count`, `${key()}:ready`);
});

test('cohort: a release in another process wakes the waiters of this one', async () => {
  const redis = connect();
  const a = await startHolder({ stage: 'cohort', url: url(), key: key(), leaseMs: 30_000 });
  const b = newLock(redis);
  const startedAt = performance.now();
  const entered = b.acquire();
  await untilQueued(redis);

  a.resume();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await b.release();
});

test('cohort: a killed holder costs what is left of its lease', async () => {
  const leaseMs = 600;
  const a = await startHolder({ stage: 'cohort', url: url(), key: key(), leaseMs });
  const b = newLock(connect());
  const entered = b.acquire();

  await a.kill();
  const killedAt = performance.now();
  await entered;

  expect(performance.now() - killedAt).toBeLessThan(atMost(leaseMs + 200));
  await b.release();
});

test('cohort: a release between the failed try and the subscription is not missed', async () => {
  const watch = watchClient(connect());
  const a = newLock(connect());
  const b = newLock(watch.client);
  await a.acquire();
  const failedTry = watch.holdAnswer('evalsha');
  const startedAt = performance.now();

  const entered = b.acquire();
  await failedTry.reached;
  await a.release(); // Nobody listens yet.
  failedTry.letGo();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await b.release();
});

test('cohort: a node that hears nothing any more is passed over', async () => {
  const redis = connect();
  const [a, b] = [newLock(connect()), newLock(connect())];
  await a.acquire();
  await redis.rpush(queue(), 'a node that is gone');
  const entered = b.acquire();
  await untilQueued(redis, 2);
  const startedAt = performance.now();

  await a.release();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await b.release();
});

test('cohort: a node that hears that it has the lock, and does nothing, costs one lease', async () => {
  const redis = connect();
  const standing = connect();
  await standing.subscribe(`${key()} standing`);
  const a = newLock(connect(), { leaseMs: 400 });
  const b = newLock(connect());
  await a.acquire();
  await redis.rpush(queue(), `${key()} standing`);
  const entered = b.acquire();
  await untilQueued(redis, 2);

  await a.release();
  expect(await redis.hgetall(key())).toEqual({ [`${key()} standing`]: '1' });
  const handedOverAt = performance.now();
  await entered;

  expect(performance.now() - handedOverAt).toBeLessThan(atMost(700));
  await b.release();
});

test('cohort: the last waiter that leaves takes its node out of the queue', async () => {
  const redis = connect();
  const patience = new AbortController();
  const a = newLock(connect());
  const ours = newLocks(2, redis);
  await a.acquire();
  const entered = ours.map((lock) => lock.acquire(patience.signal));
  await untilQueued(redis);

  patience.abort();

  for (const wait of entered) await expect(wait).rejects.toMatchObject(aborted);
  expect(await redis.exists(queue())).toBe(0);
  await a.release();
  expect(await redis.exists(key())).toBe(0);
});

test('cohort: the first waiter may leave, and the next one of its node is woken', async () => {
  const redis = connect();
  const patience = new AbortController();
  const a = newLock(connect());
  const [b, c] = newLocks(2, redis) as [Lock, Lock];
  await a.acquire();
  const left = b.acquire(patience.signal);
  const entered = c.acquire();
  await untilQueued(redis);

  patience.abort();
  await expect(left).rejects.toMatchObject(aborted);
  await a.release();

  await entered;
  await c.release();
});

test('cohort: a lock that is handed to a node whose waiters have just left is given back', async () => {
  const redis = connect();
  const patience = new AbortController();
  const b = newLock(redis);
  const holder = connect();
  await holder.hset(key(), 'a', 1);
  await holder.pexpire(key(), 30_000);
  const entered = b.acquire(patience.signal);
  await untilQueued(redis);
  const [channel = ''] = await redis.lrange(queue(), 0, -1);

  // The hand-over, of which the node has not heard yet.
  await holder.multi().lpop(queue()).del(key()).hset(key(), channel, 1).pexpire(key(), 30_000).exec();
  patience.abort();

  await expect(entered).rejects.toMatchObject(aborted);
  await redis.ping();
  expect(await redis.exists(key())).toBe(0);
});

test('cohort: another lock object of the request that holds is let in, and the last of the two passes on', async () => {
  const redis = connect();
  const options = lockOptions({ redis, key: key() });
  const [outer, inner] = [createLock(options), createLock(options)];
  await outer.acquire();
  await inner.acquire();
  const [next] = newLocks(1, redis) as [Lock];
  let isIn = false;
  const entered = next.acquire().then(() => (isIn = true));

  // The outer one first: what holds is the request.
  await outer.release();
  await redis.ping();
  expect(isIn).toBe(false);
  expect(inner.lost).toBe(outer.lost);
  await inner.release();
  await entered;
  await expect(inner.release()).rejects.toMatchObject(notHeld);
  await next.release();
});

test('cohort: a lost lease stops the hand-over, and the waiters ask Redis again', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const losses: string[] = [];
  const a = newLock(watch.client, { leaseMs: 150, onLeaseLost: () => losses.push('a') });
  const b = newLock(watch.client, { leaseMs: 150, onLeaseLost: () => losses.push('b') });
  await a.acquire();
  const lost = once(a.lost as AbortSignal, 'abort');
  let isIn = false;
  const entered = b.acquire().then(() => (isIn = true));

  await redis.multi().del(key()).hset(key(), 'theirs', 1).pexpire(key(), 30_000).exec();
  await lost;
  await untilQueued(redis);
  await expect(a.release()).rejects.toMatchObject(notHeld);

  expect(isIn).toBe(false);
  expect(losses).toEqual(['a']);
  expect(a.lost?.reason).toMatchObject(notHeld);
  expect(b.lost?.aborted).toBe(false);
  await redis.del(key());
  const [channel = ''] = await redis.lrange(queue(), 0, -1);
  await redis.publish(channel, key());
  await entered;
  await b.release();
});

test('cohort: a lock that is lost while its node asks whether to keep it is not passed on', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = newLock(watch.client);
  const b = newLock(watch.client);
  await a.acquire();
  let isIn = false;
  const entered = b.acquire().then(() => (isIn = true));
  await untilListening(redis);
  const [channel = ''] = await channelsOfNodes(redis);
  await sleep(TENURE_MS);
  const kept = watch.holdAnswer('evalsha');

  const released = a.release();
  await kept.reached;
  await redis.multi().del(key()).hset(key(), 'theirs', 1).pexpire(key(), 30_000).exec();
  await redis.publish(channel, key()); // The node looks, and the lock is gone.
  await untilQueued(redis);
  kept.letGo();

  await expect(released).rejects.toMatchObject(notHeld);
  expect(isIn).toBe(false);
  await redis.del(key());
  await redis.publish(channel, key());
  await entered;
  await b.release();
});

test('cohort: a holder that stayed longer than the bound passes nothing on that it has lost', async () => {
  const redis = connect();
  const a = newLock(redis);
  const b = newLock(redis);
  await a.acquire();
  let isIn = false;
  const entered = b.acquire().then(() => (isIn = true));
  await untilListening(redis);
  await redis.multi().del(key()).hset(key(), 'theirs', 1).pexpire(key(), 30_000).exec();
  await sleep(TENURE_MS);

  await expect(a.release()).rejects.toMatchObject(notHeld);

  await untilQueued(redis);
  expect(isIn).toBe(false);
  await redis.del(key());
  const [channel = ''] = await redis.lrange(queue(), 0, -1);
  await redis.publish(channel, key());
  await entered;
  await b.release();
});

test('cohort: a release that Redis does not answer can be tried again, with waiters behind it', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = newLock(watch.client);
  const b = newLock(watch.client);
  const noAnswer = new Error('Connection is closed.');
  await a.acquire();
  const entered = b.acquire();
  await untilListening(redis);
  await sleep(TENURE_MS);
  watch.fail('evalsha', noAnswer);

  await expect(a.release()).rejects.toBe(noAnswer);
  await untilQueued(redis);
  await a.release();

  await entered;
  await b.release();
  await expect(a.release()).rejects.toMatchObject(notHeld);
});

test('cohort: an abort at any step after the answer leaves a waiter that is inside, and then nothing', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  for (let steps = 0; steps < 20; steps += 1) {
    const patience = new AbortController();
    const lock = newLock(watch.client);
    const answer = watch.holdAnswer('evalsha');
    const entered = lock.acquire(patience.signal);
    await answer.reached;

    answer.letGo();
    for (let step = 0; step < steps; step += 1) await undefined;
    patience.abort();

    await entered;
    await lock.release();
    expect(await redis.exists(key())).toBe(0);
  }
});

test('cohort: who asks again as soon as it is refused is heard', async () => {
  const watch = watchClient(connect());
  const lock = newLock(watch.client);
  watch.fail('evalsha', new Error('Connection is closed.'));

  await lock.acquire().catch(() => lock.acquire());

  await lock.release();
});

test('cohort: the lease of a tenure lasts as long as it was asked for, also when another holder passes it on', async () => {
  const redis = connect();
  const [a, b, c] = [newLock(redis), newLock(redis, { leaseMs: 3_000 }), newLock(redis)];
  await a.acquire();
  const entered = [b, c].map((lock) => lock.acquire());
  await untilListening(redis);
  await a.release();
  await entered[0];
  await sleep(TENURE_MS);

  await b.release();
  await entered[1];

  expect(await redis.pttl(key())).toBeGreaterThan(10_000);
  await c.release();
});

test('cohort: what is handed to a node that nobody is in any more is taken by the next waiter of its process', async () => {
  const redis = connect();
  const patience = new AbortController();
  const a = newLock(connect());
  await a.acquire();
  const left = expect(newLock(redis).acquire(patience.signal)).rejects.toMatchObject(aborted);
  await untilQueued(redis);
  const [channel = ''] = await redis.lrange(queue(), 0, -1);
  patience.abort();
  await left;
  await a.release();

  // The hand-over arrives late: Redis was away when the node was forgotten.
  await connect().multi().hset(key(), channel, 1).pexpire(key(), 30_000).exec();
  const next = newLock(redis);
  await next.acquire();

  expect(await redis.hkeys(key())).not.toContain(channel);
  await next.release();
});

test('cohort: an acquisition that Redis does not answer can be given back', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = newLock(watch.client);
  const lost = watch.holdAnswer('evalsha');
  watch.fail('evalsha', new Error('Connection is closed.'));
  const b = newLock(watch.client);
  const entered = a.acquire();
  await lost.reached;
  lost.letGo();
  await entered;
  await a.release().catch(() => {});

  // The lock is still that of A in Redis, although this node has given it up.
  expect(await redis.hlen(key())).toBe(1);
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
  await b.acquire(AbortSignal.abort());
  await b.release();
});

test('cohort: a node whose waiters were refused swallows no lock that is handed to it', async () => {
  const redis = connect();
  const watch = watchClient(connect());
  const a = newLock(redis);
  const b = newLock(watch.client);
  await a.acquire();
  const entered = b.acquire();
  await untilQueued(redis);
  const [channel = ''] = await redis.lrange(queue(), 0, -1);
  const noAnswer = new Error('Connection is closed.');
  watch.fail('evalsha', noAnswer);

  await redis.publish(channel, key());
  await expect(entered).rejects.toBe(noAnswer);
  await a.release();

  await watch.client.ping();
  expect(await redis.exists(key(), queue())).toBe(0);
});

test('cohort: the lease is renewed while a holder stays, and those who wait behind it wait on', async () => {
  const redis = connect();
  const a = newLock(redis, { leaseMs: 200 });
  const b = newLock(redis, { leaseMs: 200 });
  const c = newLock(connect());
  await a.acquire();
  const entered = b.acquire();

  await sleep(600);

  await expect(c.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
  await entered;
  await b.release();
});

test('cohort: all waiters are refused within a second when Redis stands still, with the holder in their node or not', async () => {
  const store = connectStore(url());
  const other = connectStore(url());
  await Promise.all([store.back(), other.back()]);
  const a = newLock(store.redis);
  await a.acquire();
  const ends = [...newLocks(20, store.redis), ...newLocks(20, other.redis)].map((lock) =>
    lock.acquire().catch((error: Error) => error.message),
  );
  await untilQueued(connect());
  await untilListening(connect(), 2);

  signal('SIGSTOP');
  const stoppedAt = performance.now();
  const messages = await Promise.all(ends);
  const refusedMs = performance.now() - stoppedAt;
  signal('SIGCONT');

  expect(refusedMs).toBeLessThan(atMost(1_300));
  for (const message of messages) expect(message).toMatch(/Stream isn't writeable|closed|max retries/i);
  await releaseWhenAnswered(a, store);
  for (const { redis } of [store, other]) redis.disconnect();
  await connect().del(queue());
});

type Lock = ReturnType<typeof newLock>;

function newLock(redis: RedisClient, options: Partial<Parameters<typeof lockOptions>[0]> = {}) {
  return createLock(lockOptions({ redis, key: key(), ...options }));
}

function newLocks(count: number, redis: RedisClient) {
  return Array.from({ length: count }, () => newLock(redis));
}

/** Asks again until Redis answers, which is what the service does. */
async function releaseWhenAnswered(lock: Lock, store: ReturnType<typeof connectStore>) {
  await store.back();
  const error = await lock.release().catch((error: Error) => error);
  if (error === undefined) return;
  if (error instanceof LockNotHeldError) throw error;
  await sleep(50);
  await releaseWhenAnswered(lock, store);
}

/** Each enters and leaves, the first one first. */
async function leaveInTurn(locks: Lock[], entered: Promise<unknown>[]) {
  for (const [index, lock] of locks.entries()) {
    await entered[index];
    await lock.release();
  }
}

/** Resolves when so many nodes wait in the queue, and those that joined it listen. */
async function untilQueued(redis: RedisClient, count = 1) {
  while ((await redis.llen(queue())) < count);
  await untilListening(redis);
}

async function untilListening(redis: RedisClient, count = 1) {
  while ((await channelsOfNodes(redis)).length < count);
  for (let round = 0; round < 20; round += 1) await redis.ping();
}

/** The channels that the nodes of this lock listen to. */
async function channelsOfNodes(redis: RedisClient) {
  return ((await redis.call('PUBSUB', 'CHANNELS')) as string[]).filter((channel) => channel.startsWith(`${key()}:`));
}
