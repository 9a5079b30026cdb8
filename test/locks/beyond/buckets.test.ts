import { expect, test } from 'vitest';
import type { Bucket, SaleOptions } from '../../../locks/lock.ts';
import { aborted, openLab } from '../lab.ts';
import { saleOptions } from '../lock-options.ts';
import { fencedStock } from './fenced-stock.ts';

const lab = openLab();
const LEASE_MS = 900;

/** The sales of one process, over so many buckets. `seen` has what each has asked and emitted. */
function openShop(count: number) {
  const p = lab.process('buckets');
  const seen: string[] = [];

  function sale({ emit = () => {}, ...given }: Partial<SaleOptions> = {}) {
    const bucketOf = (number: number): Bucket => ({
      stock: fencedStock(p.redis, `stock:${number}`, `buckets:${number}`, seen),
      openLock: (create) => create(p.options({ key: `lock:${number}`, leaseMs: LEASE_MS, onLeaseLost() {} })),
      emit(step, stock) {
        seen.push(`${step} in ${number}`);
        emit(step, stock);
      },
    });
    const buckets = Array.from({ length: count }, (_, number) => bucketOf(number));
    async function readBuckets() {
      seen.push('look');
      const values = await p.redis.mget(buckets.map((_, number) => `stock:${number}`));
      return values.map((value) => (value === null ? undefined : Number(value)));
    }
    const { takeOne } = p.module;
    if (takeOne === undefined) throw new Error('It sells in no way of its own.');
    return lab.follow(takeOne(saleOptions({ redis: p.redis, buckets, readBuckets, emit, ...given })));
  }

  return { ...p, seen, sale };
}

function fill(...units: number[]) {
  for (const [number, stock] of units.entries()) lab.redis('SET', `stock:${number}`, stock);
}
const units = (count = 2) =>
  (lab.redis('MGET', ...Array.from({ length: count }, (_, number) => `stock:${number}`)) as string[]).map(Number);

/** A lock of a bucket that another process holds. */
async function hold(bucket: number) {
  const lock = lab.process('buckets').lock({ key: `lock:${bucket}` });
  await lab.done(lock.acquire());
  return lock;
}

/** What a sale sees when it looks, whatever there is. */
const sees = (...stock: number[]) => ({ readBuckets: async () => stock });
/** What it does in between takes so long. */
const works = (p: ReturnType<typeof openShop>, ms: number) => ({
  business: async () => void (await p.world.sleep(ms)),
});

test('buckets: two sales are inside at once when they are in two buckets', async () => {
  fill(1, 1);
  const shop = openShop(2);
  const slow = shop.sale({ ...sees(1, 0), ...works(shop, 500) });
  await lab.advance(100);

  expect(await lab.done(shop.sale(sees(0, 1)))).toBe(1);

  expect([lab.now(), units(), slow.state]).toEqual([100, [1, 0], 'pending']);
  expect(await lab.done(slow)).toBe(1);
  expect(units()).toEqual([0, 0]);
});

test('buckets: a bucket that others have emptied since the look is left, and the unit of another one is found', async () => {
  fill(1, 0);
  const steps: string[] = [];
  const lock = await hold(0);
  const selling = openShop(2).sale({ emit: (step, stock) => void steps.push(`${step} ${stock ?? ''}`.trim()) });
  await lab.advance(100);

  fill(0, 1);
  await lab.done(lock.release());

  expect(await lab.done(selling)).toBe(1);
  expect(steps).toEqual(['entered', 'left', 'waiting', 'entered', 'read 1', 'wrote 0', 'left']);
  expect(units()).toEqual([0, 0]);
});

test('buckets: a unit that is put back while all seem empty is sold', async () => {
  fill(0, 1);
  const lock = await hold(1);
  const selling = openShop(2).sale();
  await lab.advance(100);

  // One is put back into the first bucket, and then somebody takes that of the other one: there was a unit at every moment.
  fill(1, 0);
  await lab.done(lock.release());

  expect(await lab.done(selling)).toBe(1);
  expect(units()).toEqual([0, 0]);
});

test('buckets: sold out and unknown are found out in one look, without a lock', async () => {
  const { sale, seen } = openShop(3);
  const steps: string[] = [];

  expect(await lab.done(sale())).toBeUndefined();
  fill(0, 0, 0);
  expect(await lab.done(sale({ emit: (step) => void steps.push(step) }))).toBe(0);

  expect(seen).toEqual(['look', 'look']);
  // It waits for nobody, so it has begun.
  expect(steps).toEqual(['began']);
});

test('buckets: a sale that waits for its bucket leaves when its signal aborts, and takes nothing', async () => {
  fill(1, 0);
  await hold(0);
  const patience = new AbortController();
  const selling = openShop(2).sale({ signal: patience.signal });
  await lab.advance(100);

  patience.abort();

  await expect(lab.done(selling, 0)).rejects.toMatchObject(aborted);
  expect(units()).toEqual([1, 0]);
});
