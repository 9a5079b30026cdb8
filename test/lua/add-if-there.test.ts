import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const addIfThere = readScript('add-if-there');

test('add-if-there: returns 1 and adds the units, also to a stock of 0', async () => {
  const redis = connect();
  await redis.set(key(), 0);

  expect(await addIfThere(redis, [key()], [1])).toBe(1);
  expect(await addIfThere(redis, [key()], [3])).toBe(1);

  expect(await redis.get(key())).toBe('4');
  await redis.del(key());
});

test('add-if-there: returns 0 and makes nothing when there is no stock', async () => {
  const redis = connect();

  expect(await addIfThere(redis, [key()], [1])).toBe(0);

  expect(await redis.exists(key())).toBe(0);
});
