import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createLock, takeOne } from '../../../locks/beyond/combine.ts';
import { type RunScript, readScript } from '../../../locks/drivers/script.ts';
import type { Lock, RedisClient, SaleOptions } from '../../../locks/lock.ts';
import { aborted, lockOptions, notHeld, saleOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';

const { connect, key } = ownRedis();
const readIfNewest: RunScript<string | null | -1> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');
const stockKey = () => `${key()}:stock`;
const keys = () => [key(), `${key()}:tokens`, stockKey(), `${key()}:fence`];

/** The stock as a service gives it to a sale: fenced. It counts what it is asked. */
function stockOf(redis: RedisClient) {
  const asked: string[] = [];
  const at = () => [stockKey(), `${key()}:fence`];
  const stock: SaleOptions['stock'] = {
    async read(token = '0') {
      asked.push(`read with ${token}`);
      const answer = await readIfNewest(redis, at(), ['combine', token]);
      if (answer === -1) throw new Error('STALE_TOKEN');
      return answer === null ? undefined : Number(answer);
    },
    async write(units, token = '0') {
      asked.push(`write ${units} with ${token}`);
      if ((await writeIfNewest(redis, at(), [units, 'combine', token])) === 0) throw new Error('STALE_TOKEN');
    },
  };
  return { stock, asked };
}

/** The sales of one process. */
function openShop(redis = connect()) {
  const { stock, asked } = stockOf(redis);
  const locks: Lock[] = [];
  const openLock: SaleOptions['openLock'] = (create) => {
    const lock = create(lockOptions({ redis, key: key(), ownerToken: randomUUID(), onLeaseLost() {} }));
    locks.push(lock);
    return lock;
  };
  const sale = (given: Partial<SaleOptions> = {}) =>
    takeOne(saleOptions({ redis, stockKey: stockKey(), stock, openLock, ...given }));
  return { redis, asked, locks, sale };
}

/** A lock that another process holds, so that all sales wait. */
async function holdElsewhere() {
  const lock = createLock(lockOptions({ redis: connect(), key: key() }));
  await lock.acquire();
  return lock;
}

test('combine: all who wait are sold to with one read and one write, in the order in which they came', async () => {
  const { redis, asked, sale } = openShop();
  await redis.set(stockKey(), 100);
  const other = await holdElsewhere();
  const sales = Array.from({ length: 20 }, () => sale());

  await other.release();

  expect(await Promise.all(sales)).toEqual(Array.from({ length: 20 }, (_, index) => 100 - index));
  expect(asked).toEqual(['read with 2', 'write 80 with 2']);
  expect(await redis.get(stockKey())).toBe('80');
  await redis.del(keys());
});

test('combine: 60 buyers of 40 units on two nodes take each unit once, and the others get nothing', async () => {
  const shops = [openShop(), openShop()];
  await connect().set(stockKey(), 40);

  const before = await Promise.all(Array.from({ length: 60 }, (_, index) => shops[index % 2]?.sale()));

  const sold = before.filter((stock = 0) => stock > 0).toSorted((a = 0, b = 0) => a - b);
  expect(sold).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  expect(await connect().get(stockKey())).toBe('0');
  await connect().del(keys());
});

test('combine: each sale emits what happens to it, alone between its entering and its leaving', async () => {
  const { redis, sale } = openShop();
  await redis.set(stockKey(), 2);
  const other = await holdElsewhere();
  const steps: string[] = [];
  const told = (name: string): Partial<SaleOptions> => ({
    emit: (step, stock) => void steps.push([name, step, stock ?? ''].join(' ').trim()),
    business: async () => void steps.push(`${name} business`),
  });
  const sales = ['a', 'b', 'c'].map((name) => sale(told(name)));

  await other.release();

  expect(await Promise.all(sales)).toEqual([2, 1, 0]);
  expect(steps).toEqual([
    ...['a entered', 'a read 2', 'a business', 'a left'],
    ...['b entered', 'b read 1', 'b business', 'b left'],
    ...['c entered', 'c read 0', 'c left'],
    ...['a writing', 'b writing', 'a wrote 1', 'b wrote 0'],
  ]);
  await redis.del(keys());
});

test('combine: who comes while a batch is on its way waits for the next one, and the lock stays for that', async () => {
  const { redis, asked, sale } = openShop();
  await redis.set(stockKey(), 100);
  const sold: Promise<number | undefined>[] = [];
  const buy = (business = async () => {}) => void sold.push(sale({ business }));

  buy(async () => {
    buy(async () => buy());
    buy();
  });
  await until(async () => sold.length === 4);

  expect(await Promise.all(sold)).toEqual([100, 99, 98, 97]);
  expect(asked).toEqual(['read', 'write 99', 'read', 'write 97', 'read', 'write 96'].map((each) => `${each} with 1`));
  await redis.del(keys());
});

test('combine: who is answered may buy again at once', async () => {
  const { redis, sale } = openShop();
  await redis.set(stockKey(), 100);
  const sold = Array.from({ length: 10 }, async () => {
    for (let time = 1; time <= 5; time += 1) await sale();
  });

  await Promise.all(sold);

  expect(await redis.get(stockKey())).toBe('50');
  await redis.del(keys());
});

test('combine: nothing is written where nothing can be sold', async () => {
  const { redis, asked, sale } = openShop();

  expect(await sale()).toBeUndefined();
  await redis.set(stockKey(), 0);
  expect(await sale()).toBe(0);

  expect(asked.filter((question) => question.startsWith('write'))).toEqual([]);
  expect(await redis.exists(key())).toBe(0);
  await redis.del(keys());
});

test('combine: a sale that waits may leave, also the first, and the others are sold to', async () => {
  const { redis, sale } = openShop();
  await redis.set(stockKey(), 10);
  const other = await holdElsewhere();
  const patience = Array.from({ length: 3 }, () => new AbortController());
  const [first, second, third] = patience.map(({ signal }) => sale({ signal })) as Promise<unknown>[];
  const refused = Promise.all([first, third].map((each) => expect(each).rejects.toMatchObject(aborted)));

  patience[2]?.abort();
  patience[0]?.abort();
  await refused;
  await other.release();

  expect(await second).toBe(10);
  expect(await redis.get(stockKey())).toBe('9');
  await redis.del(keys());
});

test('combine: when all have left, the lock that Redis grants meanwhile is given up', async () => {
  const { redis, sale, asked } = openShop();
  await redis.set(stockKey(), 10);
  const patience = new AbortController();
  const alone = sale({ signal: patience.signal });
  const refused = expect(alone).rejects.toMatchObject(aborted);

  // Its try is on its way.
  patience.abort();

  await refused;
  await until(async () => (await redis.exists(key())) === 0);
  expect(asked).toEqual([]);
  expect(await sale()).toBe(10);
  await redis.del(keys());
});

test('combine: one write that is refused refuses all who were sold to together, and nothing is taken', async () => {
  const { redis, sale } = openShop();
  await redis.set(stockKey(), 10);
  const other = await holdElsewhere();
  let resume = () => {};
  const held = new Promise<void>((resolve) => (resume = resolve));
  const sales = [sale({ business: () => held }), sale(), sale()];
  const refused = Promise.all(sales.map((each) => expect(each).rejects.toThrow('STALE_TOKEN')));
  await other.release();
  await until(async () => (await redis.hget(`${key()}:fence`, 'combine')) === '2');

  // Its lease ends, and another process reads.
  await redis.del(key());
  const next = openShop();
  expect(await next.sale()).toBe(10);
  resume();

  await refused;
  expect(await redis.get(stockKey())).toBe('9');
  await redis.del(keys());
});

test('combine: a holder that knows that it has lost the lock writes nothing', async () => {
  const { redis, locks, asked, sale } = openShop();
  await redis.set(stockKey(), 10);
  const sold = sale({
    async business() {
      const lost = once(locks[0]?.lost as AbortSignal, 'abort');
      await redis.del(key());
      // It is told by its next renewal.
      await lost;
    },
    openLock: (create) => {
      const lock = create(lockOptions({ redis, key: key(), leaseMs: 300, onLeaseLost() {} }));
      locks.push(lock);
      return lock;
    },
  });

  await expect(sold).rejects.toMatchObject(notHeld);
  expect(asked).toHaveLength(1);
  expect(await redis.get(stockKey())).toBe('10');
  await redis.del(keys());
});

test('combine: when Redis refuses the first, all who wait with it are refused', async () => {
  const redis = connect();
  const { sale } = openShop(redis);
  await redis.set(key(), 'no hash');
  const sales = [sale(), sale(), sale()];

  for (const each of sales) await expect(each).rejects.toThrow('WRONGTYPE');

  await redis.del(keys());
});

test('combine: each tenure has a larger token, and a holder that asks again keeps its own', async () => {
  const tokens: (string | undefined)[] = [];
  for (const redis of [connect(), connect()]) {
    const lock = createLock(lockOptions({ redis, key: key() }));
    await lock.acquire();
    await lock.acquire();
    tokens.push(lock.fencingToken);
    await lock.release();
    await lock.release();
  }

  expect(tokens).toEqual(['1', '2']);
  await connect().del(keys());
});
