import type { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/replicated.ts';
import { lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';

const { connect, key, replicaUrl, signalReplica } = ownRedis({ hasReplica: true });
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
