import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/replicated.ts';
import { openLink } from '../../../scripts/link/link.ts';
import { isStoreUnavailable } from '../../../services/inventory/away-server.ts';
import { wasNeverSent } from '../../../services/inventory/store.ts';
import { lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';

const { connect, key, replicaUrl, signalReplica, url } = ownRedis({ hasReplica: true });
const notReplicated = { name: 'NotReplicatedError', code: 'NOT_REPLICATED' };

afterEach(() => signalReplica('SIGCONT'));

const lockOf = (redis: Redis) => createLock(lockOptions({ redis, key: key(), ownerToken: 'A' }));

test('replicated: who has entered, and what is confirmed, is known to the replica', async () => {
  const [redis, replica] = [connect(), connect(replicaUrl())];
  const lock = lockOf(redis);

  await lock.acquire();
  expect(await replica.hgetall(key())).toEqual({ A: '1' });
  await redis.set(`${key()}:stock`, 99);
  await lock.confirm?.();
  expect(await replica.get(`${key()}:stock`)).toBe('99');

  await lock.release();
});

test('replicated: a replica that stands still confirms nothing: nobody enters, and the lock is given back', async () => {
  const redis = connect();
  signalReplica('SIGSTOP');

  await expect(lockOf(redis).acquire()).rejects.toMatchObject(notReplicated);

  expect(await redis.exists(key())).toBe(0);
});

test('replicated: a lock that can’t be given back, since Redis has gone, may be held: the error says so', async () => {
  const link = await openLink(url());
  const redis = new Redis(link.url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  redis.on('error', () => {});
  await once(redis, 'ready');
  const lock = lockOf(redis);
  const confirmation = link.holdNext('WAIT');

  const entered = lock.acquire().catch((error: unknown) => error);
  await confirmation.arrived;
  link.cut();
  const error = await entered;

  expect(error).toMatchObject(notReplicated);
  // The service gives a lock back later when its server was away, and the lock had been asked for.
  expect([isStoreUnavailable(error), wasNeverSent(error)]).toEqual([true, false]);
  link.restore();
  await until(async () => redis.status === 'ready');
  await lock.release();
  expect(await connect().exists(key())).toBe(0);
  redis.disconnect();
  await link.close();
});
