import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/redlock.ts';
import type { LockOptions } from '../../../locks/lock.ts';
import { atMost } from '../../machine.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { until } from '../until.ts';
import { watchClient } from '../watched-client.ts';
import { ownMasters } from './own-masters.ts';

const masters = ownMasters(5);
const { connect, openLinks, freeze, resume, forget, votes, ttls, end, key } = masters;

/** How long a vote is waited for, in milliseconds, with a lease of half a second or more. */
const VOTE_LIMIT_MS = 50;
/** How often in a row a majority may be silent. */
const SILENCES = 3;
/** What a busy machine may add, in milliseconds. */
const BUSY_MS = 100;
const tooFewAnswer = { name: 'NoMajorityError', code: 'NO_MAJORITY' };

function lockOf(clients: Redis[], given: Partial<LockOptions> = {}) {
  return createLock(lockOptions({ redis: undefined as never, key: key(), masters: clients, ...given }));
}

async function msOf(act: Promise<unknown>) {
  const startedAt = performance.now();
  await act;
  return performance.now() - startedAt;
}

test('redlock: all masters vote for the holder, and its release frees all', async () => {
  const clients = await connect();
  const lock = lockOf(clients, { ownerToken: 'a' });

  await lock.acquire(AbortSignal.abort());
  await until(async () => (await votes(key())).every((vote) => vote === 'a'));
  await lock.release();

  await until(async () => (await votes(key())).every((vote) => vote === null));
  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test.each([1, 3])('redlock: the number of masters is settable: %s', async (count) => {
  const clients = (await connect()).slice(0, count);
  const a = lockOf(clients);
  const b = lockOf(clients);

  await a.acquire();

  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
  await b.acquire();
  await b.release();
});

test('redlock: a waiter enters when the holder leaves, and not before', async () => {
  const a = lockOf(await connect());
  const [first, ...others] = await connect();
  const watch = watchClient(first as Redis);
  const b = lockOf([watch.client, ...others]);
  let isInside = false;
  await a.acquire();
  const entered = b.acquire().then(() => {
    isInside = true;
  });
  // At most two a try, the vote and its return: so two tries are over.
  await until(async () => watch.sent.length > 4);

  expect(isInside).toBe(false);
  await a.release();
  await entered;
  await b.release();
});

test('redlock: the two holds of one holder end with its second release', async () => {
  const clients = await connect();
  const a = lockOf(clients, { ownerToken: 'a' });
  const b = lockOf(clients);
  await a.acquire();
  await a.acquire(AbortSignal.abort());

  await a.release();

  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
  await b.acquire();
  await b.release();
});

test('redlock: without a majority the votes are given back', async () => {
  const clients = await connect();
  for (const client of clients.slice(0, 3)) await client.hset(key(), 'other', 1);
  const lock = lockOf(clients, { ownerToken: 'a' });

  await expect(lock.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

  await until(async () => (await votes(key())).filter((vote) => vote === null).length === 2);
  expect(await votes(key())).toEqual(['other', 'other', 'other', null, null]);
});

test.each([1, 2])('redlock: %s of five masters frozen cost no more than the limit of one', async (count) => {
  const lock = lockOf(await connect(), { leaseMs: 600 });
  freeze(...[0, 1].slice(0, count));

  const acquireMs = await msOf(lock.acquire(AbortSignal.abort()));
  const releaseMs = await msOf(lock.release());

  expect(acquireMs).toBeLessThan(atMost(VOTE_LIMIT_MS + BUSY_MS));
  expect(releaseMs).toBeLessThan(atMost(VOTE_LIMIT_MS + BUSY_MS));
  resume(0, 1);
  await until(async () => (await votes(key())).every((vote) => vote === null));
});

test('redlock: with three frozen nobody enters, nothing hangs, and no late vote stays', async () => {
  const lock = lockOf(await connect());
  freeze(0, 1, 2);
  const asked = lock.acquire();
  const refused = expect(asked).rejects.toMatchObject(tooFewAnswer);

  expect(await msOf(refused)).toBeLessThan(atMost(SILENCES * VOTE_LIMIT_MS + BUSY_MS));
  resume(0, 1, 2);

  await until(async () => (await votes(key())).every((vote) => vote === null));
  await lock.acquire(AbortSignal.abort());
  await lock.release();
});

test('redlock: masters that cannot be reached are no majority, and are not waited for', async () => {
  const links = await openLinks();
  const lock = lockOf(await connect(links.map(({ url }) => url)), { leaseMs: 30_000 });
  for (const link of links.slice(0, 3)) link.cut();

  await expect(lock.acquire()).rejects.toMatchObject(tooFewAnswer);
});

test('redlock: a release that too few answer may be called again', async () => {
  const lock = lockOf(await connect());
  await lock.acquire();
  freeze(0, 1, 2);

  await expect(lock.release()).rejects.toMatchObject(tooFewAnswer);
  resume(0, 1, 2);

  await until(async () => (await votes(key())).every((vote) => vote === null));
  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test('redlock: a release that could not be sent frees the lock at the second call', async () => {
  const links = await openLinks();
  const clients = await connect(links.map(({ url }) => url));
  const lock = lockOf(clients, { ownerToken: 'a' });
  await lock.acquire();
  await until(async () => (await votes(key())).every((vote) => vote === 'a'));
  for (const link of links) link.cut();
  await until(async () => clients.every(({ status }) => status !== 'ready'));
  await expect(lock.release()).rejects.toMatchObject(tooFewAnswer);
  expect(await votes(key())).toEqual(['a', 'a', 'a', 'a', 'a']);
  for (const link of links) link.restore();
  await until(async () => clients.every(({ status }) => status === 'ready'));

  await lock.release();

  // A majority is free, whatever became of the others.
  expect((await votes(key())).filter((vote) => vote === null).length).toBeGreaterThanOrEqual(3);
});

test('redlock: replies that come after the lease are refused, and the votes are given back meanwhile', async () => {
  const links = await openLinks();
  const lock = lockOf(await connect(links.map(({ url }) => url)), { leaseMs: 300 });
  for (const link of links.slice(0, 3)) link.delayReplies(500);
  const other = lockOf(await connect(), { leaseMs: 300 });

  await expect(lock.acquire()).rejects.toMatchObject(tooFewAnswer);

  expect(links.map(({ counters }) => counters.commands.get('acquire-reentrant'))).toEqual(Array(5).fill(SILENCES));
  // The delay is on the way back: the masters have voted, and have been told to forget it.
  expect(await msOf(other.acquire())).toBeLessThan(300);
  await other.release();
});

test('redlock: votes that are read when their lease has ended are no lock', async () => {
  const watches = (await connect()).map(watchClient);
  const lock = lockOf(
    watches.map(({ client }) => client),
    { leaseMs: 300 },
  );
  const answers = watches.map((watch) => watch.nextAnswer('evalsha'));
  const refused = expect(lock.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

  // The masters vote at once, and this process stands still until the votes have ended.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);

  await refused;
  expect(await Promise.all(answers)).toEqual([1, 1, 1, 1, 1]);
});

test('redlock: the watchdog starts the votes anew', async () => {
  const lock = lockOf(await connect(), { leaseMs: 600 });
  await lock.acquire();
  await sleep(900);

  expect(lock.lost?.aborted).toBe(false);
  for (const ttl of await ttls(key())) expect(ttl).toBeGreaterThan(300);
  await lock.release();
});

test('redlock: two masters that forget cost nothing, a third the lock', async () => {
  const lease = losses();
  const a = lockOf(await connect(), { ownerToken: 'a', leaseMs: 600, onLeaseLost: lease.record });
  await a.acquire();
  await until(async () => (await votes(key())).every((vote) => vote === 'a'));

  await end(key(), 0, 1);
  await sleep(400);
  expect(a.lost?.aborted).toBe(false);
  await end(key(), 2);
  // At the next renewal, long before the lease ends.
  expect(await msOf(lease.first)).toBeLessThan(350);

  expect(a.lost?.reason).toMatchObject(notHeld);
  await expect(a.release()).rejects.toMatchObject(notHeld);
  await until(async () => (await votes(key())).every((vote) => vote === null));
  expect(lease.count()).toBe(1);
});

test('redlock: a holder that reaches no majority gives up before its lease ends', async () => {
  const lease = losses();
  const lock = lockOf(await connect(), { leaseMs: 600, onLeaseLost: lease.record });
  await lock.acquire();
  freeze(0, 1, 2);

  expect(await msOf(lease.first)).toBeLessThan(atMost(600));

  expect(lock.lost?.reason).toMatchObject(notHeld);
  await expect(lock.release()).rejects.toMatchObject(tooFewAnswer);
});

test('redlock: one renewal without an answer is not a loss', async () => {
  const lock = lockOf(await connect(), { leaseMs: 900 });
  await lock.acquire();

  freeze(0, 1, 2);
  await sleep(400);
  resume(0, 1, 2);
  await sleep(700);

  expect(lock.lost?.aborted).toBe(false);
  await lock.release();
});

test('redlock: nothing is renewed after the last release', async () => {
  const links = await openLinks();
  const lock = lockOf(await connect(links.map(({ url }) => url)), { leaseMs: 600 });
  await lock.acquire();
  await until(async () => links.every(({ counters }) => (counters.commands.get('renew-if-owner') ?? 0) > 0));
  await lock.release();
  const sent = links.map(({ counters }) => counters.commands.get('EVALSHA'));

  await sleep(600);

  expect(links.map(({ counters }) => counters.commands.get('EVALSHA'))).toEqual(sent);
});

test('redlock: a master that restarts empty votes twice, and a second majority forms', async () => {
  const links = await openLinks();
  const a = lockOf(await connect(links.map(({ url }) => url)), { ownerToken: 'a' });
  const b = lockOf(await connect(), { ownerToken: 'b' });
  for (const link of links.slice(3)) link.cut();
  await a.acquire();
  expect(await votes(key())).toEqual(['a', 'a', 'a', null, null]);
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

  await forget(2);
  await b.acquire();

  expect(await votes(key())).toEqual(['a', 'a', 'b', 'b', 'b']);
  expect(a.lost?.aborted).toBe(false);
  await b.release();
  await expect(a.release()).rejects.toBeInstanceOf(Error);
});

test('redlock: a waiter whose signal aborts stops, and leaves no vote', async () => {
  const patience = new AbortController();
  const a = lockOf(await connect(), { ownerToken: 'a' });
  const b = lockOf(await connect());
  await a.acquire();
  const waiting = expect(b.acquire(patience.signal)).rejects.toMatchObject(aborted);
  await sleep(20);

  patience.abort();

  await waiting;
  await a.release();
  await until(async () => (await votes(key())).every((vote) => vote === null));
});

/** Counts how often a holder learns that its lease is lost; `first` resolves at the first time. */
function losses() {
  let count = 0;
  let onFirst = () => {};
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  return {
    first,
    count: () => count,
    record() {
      count += 1;
      onFirst();
    },
  };
}
