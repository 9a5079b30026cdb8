import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/replicated.ts';
import type { LockOptions } from '../../../locks/lock.ts';
import { openLink } from '../../../scripts/link/link.ts';
import { isStoreUnavailable } from '../../../services/inventory/away-server.ts';
import { wasNeverSent } from '../../../services/inventory/store.ts';
import { atLeast } from '../../machine.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';

const { connect, key, replicaUrl, signalReplica, url } = ownRedis({ hasReplica: true });
const notReplicated = { name: 'NotReplicatedError', code: 'NOT_REPLICATED' };
/** The longest that a replica is waited for, in milliseconds. */
const CONFIRM_LIMIT_MS = 300;

afterEach(() => signalReplica('SIGCONT'));

const lockOf = (redis: Redis, given: Partial<LockOptions> = {}) =>
  createLock(lockOptions({ redis, key: key(), ...given }));

test('replicated: who has entered is known to the replica', async () => {
  const replica = connect(replicaUrl());
  const lock = lockOf(connect(), { ownerToken: 'A' });

  await lock.acquire();

  expect(await replica.hgetall(key())).toEqual({ A: '1' });
  await lock.release();
});

test('replicated: what is confirmed is known to the replica', async () => {
  const redis = connect();
  const replica = connect(replicaUrl());
  const lock = lockOf(redis);
  await lock.acquire();

  for (let stock = 100; stock > 50; stock -= 1) {
    await redis.set(`${key()}:stock`, stock);
    await lock.confirm?.();
    expect(await replica.get(`${key()}:stock`)).toBe(String(stock));
  }

  await redis.del(`${key()}:stock`);
  await lock.release();
});

test('replicated: without a replica that confirms nobody enters, and the lock is given back', async () => {
  const redis = connect();
  signalReplica('SIGSTOP');
  const askedAt = performance.now();

  await expect(lockOf(redis).acquire()).rejects.toMatchObject(notReplicated);

  expect(performance.now() - askedAt).toBeGreaterThan(atLeast(CONFIRM_LIMIT_MS));
  expect(await redis.exists(key())).toBe(0);
});

test('replicated: a lock that can’t be given back, since Redis has gone, may be held: the error says so', async () => {
  const link = await openLink(url());
  const redis = new Redis(link.url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  redis.on('error', () => {});
  await once(redis, 'ready');
  const lock = lockOf(redis, { ownerToken: 'A' });
  const confirmation = link.holdNext('WAIT');

  const entered = lock.acquire().catch((error: unknown) => error);
  await confirmation.arrived;
  link.cut();
  const error = await entered;

  expect(error).toMatchObject(notReplicated);
  // The service gives a lock back later when its server was away, and the lock had been asked for.
  expect([isStoreUnavailable(error), wasNeverSent(error)]).toEqual([true, false]);
  link.restore();
  await expect.poll(() => redis.status, { timeout: 10_000 }).toBe('ready');
  await lock.release();
  expect(await connect().exists(key())).toBe(0);
  redis.disconnect();
  await link.close();
});

test('replicated: a replica that is waited for in vain takes no more than a fifth of the lease', async () => {
  signalReplica('SIGSTOP');
  const askedAt = performance.now();

  await expect(lockOf(connect(), { leaseMs: 300 }).acquire()).rejects.toMatchObject(notReplicated);

  expect(performance.now() - askedAt).toBeLessThan(atLeast(CONFIRM_LIMIT_MS));
});

test('replicated: a nested acquire that is not confirmed gives back the inner hold, and leaves the outer one', async () => {
  const redis = connect();
  const lock = lockOf(redis, { ownerToken: 'A' });
  await lock.acquire();
  signalReplica('SIGSTOP');

  await expect(lock.acquire()).rejects.toMatchObject(notReplicated);

  expect(await redis.hgetall(key())).toEqual({ A: '1' });
  await expect(lockOf(connect()).acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await lock.release();
  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test('replicated: a write that no replica has heard of is not confirmed, and is there all the same', async () => {
  const redis = connect();
  const lock = lockOf(redis);
  await lock.acquire();
  signalReplica('SIGSTOP');
  await redis.set(`${key()}:stock`, 99);

  await expect(lock.confirm?.()).rejects.toMatchObject(notReplicated);

  expect(await redis.get(`${key()}:stock`)).toBe('99');
  await redis.del(`${key()}:stock`);
  await lock.release();
});

test('replicated: on another connection than the one that has written, WAIT says nothing of the write', async () => {
  const redis = connect();
  const other = connect();
  // Its own last command is older than the standstill.
  await other.ping();
  await other.wait(1, 1_000);
  signalReplica('SIGSTOP');
  await redis.set(`${key()}:stock`, 99);

  expect(await other.wait(1, 50)).toBe(1);
  expect(await redis.wait(1, 50)).toBe(0);

  await redis.del(`${key()}:stock`);
});

test('replicated: the lock is renewed as under stage 8', async () => {
  const lock = lockOf(connect(), { leaseMs: 300 });
  await lock.acquire();

  await sleep(900);

  await expect(lockOf(connect()).acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await lock.release();
});
