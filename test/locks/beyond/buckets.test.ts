import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createLock, takeOne } from '../../../locks/beyond/buckets.ts';
import { type RunScript, readScript } from '../../../locks/drivers/script.ts';
import type { Bucket, SaleOptions } from '../../../locks/lock.ts';
import { aborted, lockOptions, notHeld, saleOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';

const { connect, key } = ownRedis();
const readIfNewest: RunScript<string | null | -1> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');
const stockKey = (bucket: number) => `${key()}:stock:${bucket}`;
const lockKey = (bucket: number) => `${key()}:lock:${bucket}`;
const fenceKey = () => `${key()}:fence`;

/** The sales of one process, over so many buckets. `seen` has what each has asked and emitted. */
function openShop(count: number, redis = connect()) {
  const seen: string[] = [];

  function sale({ emit = () => {}, ...given }: Partial<SaleOptions> = {}) {
    const bucketOf = (number: number): Bucket => ({
      stock: {
        async read(token = '0') {
          seen.push(`read bucket ${number} with ${token}`);
          const answer = await readIfNewest(redis, [stockKey(number), fenceKey()], [`buckets:${number}`, token]);
          if (answer === -1) throw new Error('STALE_TOKEN');
          return answer === null ? undefined : Number(answer);
        },
        async write(units, token = '0') {
          seen.push(`write ${units} to bucket ${number} with ${token}`);
          const values = [units, `buckets:${number}`, token];
          if ((await writeIfNewest(redis, [stockKey(number), fenceKey()], values)) === 1) return;
          seen.push(`refused by bucket ${number}`);
          throw new Error('STALE_TOKEN');
        },
      },
      openLock: (create) =>
        create(lockOptions({ redis, key: lockKey(number), ownerToken: randomUUID(), onLeaseLost() {} })),
      emit(step, stock) {
        seen.push(`${step} in ${number}`);
        emit(step, stock);
      },
    });
    const buckets = Array.from({ length: count }, (_, number) => bucketOf(number));
    async function readBuckets() {
      seen.push('look');
      const values = await redis.mget(buckets.map((_, number) => stockKey(number)));
      return values.map((value) => (value === null ? undefined : Number(value)));
    }
    return takeOne(saleOptions({ redis, buckets, readBuckets, emit, ...given }));
  }

  return { redis, seen, sale };
}

async function fill(...units: number[]) {
  const redis = connect();
  await redis.mset(...units.flatMap((stock, number) => [stockKey(number), stock]));
  return {
    async units() {
      return (await redis.mget(units.map((_, number) => stockKey(number)))).map(Number);
    },
    async empty() {
      await redis.del(fenceKey(), ...units.flatMap((_, number) => [stockKey(number), lockKey(number)]));
      await redis.del(...units.map((_, number) => `${lockKey(number)}:tokens`));
    },
  };
}

/** A lock of a bucket that another process holds. */
async function hold(bucket: number) {
  const lock = createLock(lockOptions({ redis: connect(), key: lockKey(bucket) }));
  await lock.acquire();
  return lock;
}

/** What a sale sees when it looks, whatever there is. */
const sees = (...units: number[]) => ({ readBuckets: async () => units });

/** A step in which a sale of `shop` stands until it is let go. */
function standsStill() {
  let letGo = () => {};
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const held = new Promise<void>((resolve) => (letGo = resolve));
  async function business() {
    arrive();
    await held;
  }
  return { arrived, letGo: () => letGo(), business };
}

test('buckets: 60 buyers of 40 units on two nodes take each unit of each bucket once, and the others get nothing', async () => {
  const stock = await fill(10, 10, 10, 10);
  const shops = [openShop(4), openShop(4)];

  const before = await Promise.all(Array.from({ length: 60 }, (_, index) => shops[index % 2]?.sale()));

  const sold = before.filter((units = 0) => units > 0).toSorted((a = 0, b = 0) => a - b);
  expect(sold).toEqual(Array.from({ length: 40 }, (_, index) => Math.floor(index / 4) + 1));
  expect(before.filter((units) => units === 0)).toHaveLength(20);
  expect(await stock.units()).toEqual([0, 0, 0, 0]);
  await stock.empty();
});

test('buckets: two sales are inside at once when they are in two buckets', async () => {
  const stock = await fill(1, 1);
  const { sale } = openShop(2);
  const first = standsStill();
  const selling = sale({ ...sees(1, 0), business: first.business });
  await first.arrived;

  expect(await sale(sees(0, 1))).toBe(1);

  expect(await stock.units()).toEqual([1, 0]);
  first.letGo();
  expect(await selling).toBe(1);
  expect(await stock.units()).toEqual([0, 0]);
  await stock.empty();
});

test('buckets: two sales of one bucket come one after the other', async () => {
  const stock = await fill(0, 2);
  const { sale, seen } = openShop(2);
  const first = standsStill();
  const sales = [sale({ business: first.business })];
  await first.arrived;
  sales.push(sale());
  await until(async () => seen.filter((step) => step === 'look').length === 2);

  expect(seen.filter((step) => step === 'entered in 1')).toHaveLength(1);
  first.letGo();

  expect(await Promise.all(sales)).toEqual([2, 1]);
  expect(seen.filter((step) => / in 1$/.test(step))).toEqual([
    ...['entered in 1', 'read in 1', 'writing in 1', 'wrote in 1', 'left in 1'],
    ...['entered in 1', 'read in 1', 'writing in 1', 'wrote in 1', 'left in 1'],
  ]);
  await stock.empty();
});

test('buckets: a bucket that others have emptied since the look is left, and the unit of another one is found', async () => {
  const stock = await fill(1, 0);
  const { sale, seen } = openShop(2);
  const steps: string[] = [];
  const lock = await hold(0);
  const selling = sale({ emit: (step, units) => void steps.push(`${step} ${units ?? ''}`.trim()) });
  await until(async () => seen.includes('look'));

  await connect().mset(stockKey(0), 0, stockKey(1), 1);
  await lock.release();

  expect(await selling).toBe(1);
  expect(steps).toEqual(['entered', 'left', 'waiting', 'entered', 'read 1', 'writing', 'wrote 0', 'left']);
  expect(await stock.units()).toEqual([0, 0]);
  await stock.empty();
});

test('buckets: a unit that is put back while all seem empty is sold', async () => {
  const stock = await fill(0, 1);
  const { sale, seen } = openShop(2);
  const lock = await hold(1);
  const selling = sale();
  await until(async () => seen.includes('look'));

  // One is put back into the first bucket, and then somebody takes that of the other one: there was a unit at every moment.
  await connect().set(stockKey(0), 1);
  await connect().set(stockKey(1), 0);
  await lock.release();

  expect(await selling).toBe(1);
  expect(await stock.units()).toEqual([0, 0]);
  await stock.empty();
});

test('buckets: sold out and unknown are found out in one look, without a lock', async () => {
  const { sale, seen } = openShop(3);
  const steps: string[] = [];

  expect(await sale()).toBeUndefined();
  const stock = await fill(0, 0, 0);
  expect(await sale({ emit: (step) => void steps.push(step) })).toBe(0);

  expect(seen).toEqual(['look', 'look']);
  // It waits for nobody, so it has begun.
  expect(steps).toEqual(['began']);
  await stock.empty();
});

test('buckets: a bucket that was never filled is an empty one', async () => {
  const stock = await fill(2);
  const { sale } = openShop(3);

  expect([await sale(), await sale(), await sale()]).toEqual([2, 1, 0]);
  await stock.empty();
});

test('buckets: the sales spread over all of them', async () => {
  const stock = await fill(100, 100, 100, 100);
  const { sale } = openShop(4);

  await Promise.all(Array.from({ length: 200 }, () => sale()));

  // Each of 200 takes one of four by chance: fewer than 20 in one of them is a matter of one in 10^8.
  for (const units of await stock.units()) expect(100 - units).toBeGreaterThan(20);
  await stock.empty();
});

test('buckets: a late write is refused by its own bucket, and no other bucket minds', async () => {
  const stock = await fill(2, 0);
  const { redis, sale, seen } = openShop(2);
  const late = standsStill();
  const lost = sale({ business: late.business });
  const refused = expect(lost).rejects.toMatchObject(notHeld);
  await late.arrived;
  await redis.del(lockKey(0));
  await redis.set(stockKey(1), 1);
  const nexts = [standsStill(), standsStill()];
  const selling = nexts.map(({ business }, bucket) => sale({ ...(bucket === 0 ? sees(1, 0) : sees(0, 1)), business }));
  await Promise.all(nexts.map(({ arrived }) => arrived));
  // Each bucket has tokens of its own.
  expect(await redis.hgetall(fenceKey())).toEqual({ 'buckets:0': '2', 'buckets:1': '1' });

  late.letGo();
  // Its lock was given up in vain, too: a service notes what the stock has refused.
  await refused;
  expect(seen).toContain('refused by bucket 0');
  for (const { letGo } of nexts) letGo();

  expect(await Promise.all(selling)).toEqual([2, 1]);
  expect(await stock.units()).toEqual([1, 0]);
  await stock.empty();
});

test('buckets: a sale that waits for its bucket leaves when its signal aborts, and takes nothing', async () => {
  const stock = await fill(1, 0);
  const { sale, seen } = openShop(2);
  const lock = await hold(0);
  const patience = new AbortController();
  const selling = expect(sale({ signal: patience.signal })).rejects.toMatchObject(aborted);
  await until(async () => seen.includes('look'));

  patience.abort();

  await selling;
  await lock.release();
  expect(await stock.units()).toEqual([1, 0]);
  await stock.empty();
});

test('buckets: a holder that knows that it has lost the lock of its bucket writes nothing', async () => {
  const { sale, seen, redis } = openShop(1);
  const stock = await fill(1);
  const inside = standsStill();
  const lost = new AbortController();
  const knows: Bucket = {
    stock: { read: async () => 1, write: async () => void seen.push('written') },
    openLock(create) {
      const lock = create(lockOptions({ redis, key: lockKey(0), leaseMs: 300, onLeaseLost() {} }));
      lock.lost?.addEventListener('abort', () => lost.abort());
      return lock;
    },
    emit() {},
  };
  const selling = sale({ buckets: [knows], business: inside.business });
  const refused = expect(selling).rejects.toMatchObject(notHeld);
  await inside.arrived;

  await redis.del(lockKey(0));
  await until(async () => lost.signal.aborted);
  inside.letGo();

  await refused;
  expect(seen).not.toContain('written');
  await stock.empty();
});
