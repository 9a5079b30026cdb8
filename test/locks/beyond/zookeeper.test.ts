import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/zookeeper.ts';
import type { Lock, LockOptions, Zookeeper, ZookeeperSession } from '../../../locks/lock.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { until } from '../until.ts';
import { ownZookeeper } from './own-zookeeper.ts';

const { connect, key, nodes, remove } = ownZookeeper();

const oneTry = AbortSignal.abort();

function lockOf(zookeeper: Zookeeper, given: Partial<LockOptions> = {}): Lock {
  return createLock(lockOptions({ redis: undefined as never, key: key(), zookeeper, ...given }));
}

/** Starts a waiter, and resolves when its node is in the queue and the one before it is watched. */
async function startWaiter(zookeeper: Zookeeper, given: Partial<LockOptions> = {}) {
  const seen = watchSession(zookeeper);
  const patience = new AbortController();
  const lock = lockOf(seen.zookeeper, given);
  const entered = lock.acquire(patience.signal);
  entered.catch(() => {});
  await until(async () => seen.watches.length === 1);
  // ZooKeeper answers in order: what was sent before has its answer now.
  await (await zookeeper.enter()).list('/locks');
  return { lock, entered, patience, seen };
}

/** The session as it is, and what is asked of it. */
function watchSession(zookeeper: Zookeeper) {
  const watches: string[] = [];
  let lists = 0;
  const watched = (session: ZookeeperSession): ZookeeperSession => ({
    ...session,
    list(folder) {
      lists += 1;
      return session.list(folder);
    },
    untilGone(path, signal) {
      watches.push(path);
      return session.untilGone(path, signal);
    },
  });
  return {
    zookeeper: { enter: async () => watched(await zookeeper.enter()), close: zookeeper.close },
    /** The nodes that were watched. */
    watches,
    /** How often the queue was looked at. */
    lists: () => lists,
  };
}

test('zookeeper: an abort ends the wait at once with its reason, and takes the node out of the queue', async () => {
  const zookeeper = connect();
  const reason = new Error('The client has gone.');
  const a = lockOf(zookeeper);
  await a.acquire();
  const b = await startWaiter(zookeeper);

  b.patience.abort(reason);

  await expect(b.entered).rejects.toMatchObject({ ...aborted, cause: reason });
  expect(await nodes(key())).toHaveLength(1);
  expect(getEventListeners(b.patience.signal, 'abort')).toEqual([]);
  await a.release();
  expect(await nodes(key())).toEqual([]);
});

test('zookeeper: a release rejects when the lock was never acquired, was released, or its node is gone', async () => {
  const lock = lockOf(connect());

  await expect(lock.release()).rejects.toMatchObject(notHeld);
  await lock.acquire();
  await lock.release();
  await expect(lock.release()).rejects.toMatchObject(notHeld);
  await lock.acquire();
  await remove((await nodes(key()))[0]?.path as string);
  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test('zookeeper: 20 contenders over two sessions that read, pause and write lose no update', async () => {
  const zookeepers = [connect(), connect()] as const;
  let [shared, inside, mostInside] = [0, 0, 0];
  const tokens: bigint[] = [];

  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const lock = lockOf(zookeepers[index % 2] as Zookeeper);
      await lock.acquire();
      inside += 1;
      mostInside = Math.max(mostInside, inside);
      tokens.push(BigInt(lock.fencingToken as string));
      const read = shared;
      await (await zookeepers[0].enter()).list('/locks');
      shared = read + 1;
      inside -= 1;
      await lock.release();
    }),
  );

  expect([shared, mostInside]).toEqual([20, 1]);
  expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(new Set(tokens).size).toBe(20);
});

const ofRequest = { ownerToken: 'service:request-1' };

test('zookeeper: the locks of a request share a node, and the lock is free when the last of three is released', async () => {
  const zookeeper = connect();
  const [outer, ...inner] = [0, 1, 2].map(() => lockOf(zookeeper, ofRequest)) as [Lock, Lock, Lock];
  const other = lockOf(connect());
  await outer.acquire();
  for (const lock of inner) await lock.acquire(oneTry);
  expect(inner.map(({ fencingToken }) => fencingToken)).toEqual([outer.fencingToken, outer.fencingToken]);
  expect(await nodes(key())).toHaveLength(1);

  for (const lock of [outer, ...inner]) {
    await expect(other.acquire(oneTry)).rejects.toMatchObject(aborted);
    await lock.release();
  }

  await other.acquire(oneTry);
  await other.release();
  await expect(outer.release()).rejects.toMatchObject(notHeld);
});

test('zookeeper: the locks of a request that wait for one of them enter together, also when that one gives up', async () => {
  const zookeeper = connect();
  const other = lockOf(zookeeper);
  await other.acquire();
  const first = await startWaiter(zookeeper, ofRequest);
  const rest = [0, 1].map(() => lockOf(zookeeper, ofRequest));
  const entered = Promise.all(rest.map((lock) => lock.acquire()));

  first.patience.abort();
  await expect(first.entered).rejects.toMatchObject(aborted);
  await other.release();

  await entered;
  expect(await nodes(key())).toHaveLength(1);
  for (const lock of rest) await lock.release();
  expect(await nodes(key())).toEqual([]);
});

test('zookeeper: each waiter watches the one before it, and a release wakes one of them', async () => {
  const zookeeper = connect();
  const a = lockOf(zookeeper);
  await a.acquire();
  const waiters = [];
  for (let n = 0; n < 10; n += 1) waiters.push(await startWaiter(zookeeper));
  const [b, ...others] = waiters;

  await a.release();
  await b?.entered;
  await (await zookeeper.enter()).list('/locks');

  expect(new Set(waiters.flatMap(({ seen }) => seen.watches)).size).toBe(10);
  expect(b?.seen.lists()).toBe(2);
  expect(others.map(({ seen }) => seen.lists())).toEqual(others.map(() => 1));
  await b?.lock.release();
  for (const { entered, lock } of others) await entered.then(lock.release);
});
