import { expect, test } from 'vitest';
import { createLock } from '../../locks/3-spin.ts';
import { aborted, lockOptions } from './lock-options.ts';
import { measureTries } from './measure-tries.ts';
import { ownRedis } from './own-redis.ts';
import { startHolder } from './start-holder.ts';

const { url, connect, key } = ownRedis();

test('3-spin: a failed try leaves nothing in memory', async () => {
  const { tries, bytesPerTry } = await measureTries('3-spin', url(), key());

  expect(tries).toBeGreaterThan(20_000);
  expect(bytesPerTry).toBeLessThan(20);
});

test('3-spin: a holder that is killed leaves the key for good, and everyone waits', async () => {
  const redis = connect();
  const b = createLock(lockOptions({ redis, key: key() }));
  const a = await startHolder({ stage: '3-spin', url: url(), key: key(), leaseMs: 50 });

  await a.kill();

  expect(await redis.get(key())).toBe('held');
  expect(await redis.pttl(key())).toBe(-1);
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await redis.del(key());
});
