import { expect, test } from 'vitest';
import { createLock } from '../../locks/0-none.ts';
import { aborted, lockOptions } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';
import { watchClient } from './watched-client.ts';

const { connect, key } = ownRedis();

test('0-none: two requests read the same stock and both sell it', async () => {
  const redis = connect();
  const stock = `${key()}:stock`;
  const a = createLock(lockOptions({ redis, key: key() }));
  const b = createLock(lockOptions({ redis, key: key() }));
  await redis.set(stock, 100);

  await a.acquire();
  const readByA = Number(await redis.get(stock));
  await b.acquire();
  const readByB = Number(await redis.get(stock));
  await redis.set(stock, readByA - 1);
  await a.release();
  await redis.set(stock, readByB - 1);
  await b.release();

  expect([readByA, readByB]).toEqual([100, 100]);
  expect(await redis.getdel(stock)).toBe('99');
});

test('0-none: nobody waits and no release is refused', async () => {
  const watch = watchClient(connect());
  const lock = createLock(lockOptions({ redis: watch.client, key: key() }));

  await lock.acquire();
  await expect(lock.acquire(AbortSignal.abort())).resolves.not.toMatchObject(aborted);
  await lock.release();
  await lock.release();
  await lock.release();

  expect(watch.sent).toEqual([]);
});
