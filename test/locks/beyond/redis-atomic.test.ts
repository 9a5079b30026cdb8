import { expect, test } from 'vitest';
import { takeOne } from '../../../locks/beyond/redis-atomic.ts';
import { saleOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';

const { connect, key } = ownRedis();

const saleOf = (given: Partial<Parameters<typeof takeOne>[0]> = {}) =>
  saleOptions({ redis: connect(), stockKey: key(), ...given });

test('redis-atomic: 50 buyers of 30 units over two connections take each unit once', async () => {
  const redis = connect();
  await redis.set(key(), 30);
  const connections = [saleOf(), saleOf()];

  const before = await Promise.all(
    Array.from({ length: 50 }, (_, index) => takeOne(connections[index % 2] ?? saleOf())),
  );

  const sold = before.filter((stock) => stock !== 0).toSorted((a = 0, b = 0) => a - b);
  expect(sold).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  expect(await redis.get(key())).toBe('0');
  await redis.del(key());
});

test('redis-atomic: the business comes before the step, and what is emitted is what happened', async () => {
  const redis = connect();
  await redis.set(key(), 5);
  const steps: string[] = [];

  const stockBefore = await takeOne(
    saleOf({
      business: async () => {
        steps.push(`business at stock ${await redis.get(key())}`);
      },
      emit: (step, stock) => void steps.push(stock === undefined ? step : `${step} ${stock}`),
    }),
  );

  expect(stockBefore).toBe(5);
  expect(steps).toEqual(['began', 'business at stock 5', 'writing', 'read 5', 'wrote 4']);
  await redis.del(key());
});

test('redis-atomic: nothing is taken where there is nothing', async () => {
  const redis = connect();

  expect(await takeOne(saleOf())).toBeUndefined();
  await redis.set(key(), 0);
  expect(await takeOne(saleOf())).toBe(0);

  expect(await redis.get(key())).toBe('0');
  await redis.del(key());
});
