import { expect, test } from 'vitest';
import type { Lock, SaleOptions } from '../../../locks/lock.ts';
import { aborted, notHeld, openLab } from '../lab.ts';
import { saleOptions } from '../lock-options.ts';
import { fencedStock, STALE } from './fenced-stock.ts';

const lab = openLab();
const LEASE_MS = 900;

/** The sales of one process. */
function openShop() {
  const p = lab.process('combine');
  const asked: string[] = [];
  const locks: Lock[] = [];
  const stock = fencedStock(p.redis, 'stock', 'combine', asked);
  const openLock: SaleOptions['openLock'] = (create) => {
    const lock = create(p.options({ leaseMs: LEASE_MS, onLeaseLost() {} }));
    locks.push(lock);
    return lock;
  };
  function sale(given: Partial<SaleOptions> = {}) {
    const { takeOne } = p.module;
    if (takeOne === undefined) throw new Error('It sells in no way of its own.');
    return lab.follow(takeOne(saleOptions({ redis: p.redis, stockKey: 'stock', stock, openLock, ...given })));
  }
  return { ...p, asked, locks, sale };
}

/** A lock that another process holds, so that all sales wait. */
async function holdElsewhere() {
  const lock = lab.process('combine').lock();
  await lab.done(lock.acquire());
  return lock;
}

test('combine: all who wait are sold to with one read and one write, in the order in which they came', async () => {
  const { asked, sale } = openShop();
  lab.redis('SET', 'stock', 100);
  const other = await holdElsewhere();
  const sales = Array.from({ length: 20 }, () => sale());

  await lab.done(other.release());

  expect(await lab.done(Promise.all(sales))).toEqual(Array.from({ length: 20 }, (_, index) => 100 - index));
  expect(asked).toEqual(['read stock with 2', 'write stock 80 with 2']);
});

test('combine: who comes while a batch is on its way waits for the next one, and the lock stays for that', async () => {
  const { asked, sale } = openShop();
  lab.redis('SET', 'stock', 100);
  const sold: Promise<number | undefined>[] = [];
  const buy = (business = async () => {}) => void sold.push(sale({ business }));

  buy(async () => {
    buy(async () => buy());
    buy();
  });
  await lab.advance(0);

  expect(await Promise.all(sold)).toEqual([100, 99, 98, 97]);
  const steps = ['read', 'write 99', 'read', 'write 97', 'read', 'write 96'];
  expect(asked).toEqual(steps.map((step) => `${step.replace(/^\w+/, '$& stock')} with 1`));
});

test('combine: a sale that waits may leave, also the first, and the others are sold to', async () => {
  const { sale } = openShop();
  lab.redis('SET', 'stock', 10);
  const other = await holdElsewhere();
  const patience = Array.from({ length: 3 }, () => new AbortController());
  const sales = patience.map(({ signal }) => sale({ signal }));
  await lab.advance(100);

  patience[2]?.abort();
  patience[0]?.abort();
  await lab.advance(0);
  expect(sales.map(({ state }) => state)).toEqual(['failed', 'pending', 'failed']);
  await expect(sales[0]).rejects.toMatchObject(aborted);
  await lab.done(other.release());

  expect(await lab.done(Promise.all([sales[1]]))).toEqual([10]);
  expect(lab.redis('GET', 'stock')).toBe('9');
});

test('combine: one write that is refused refuses all who were sold to together, and nothing is taken', async () => {
  const shop = openShop();
  lab.redis('SET', 'stock', 10);
  const other = await holdElsewhere();
  const sales = [shop.sale({ business: async () => void (await shop.world.sleep(100)) }), shop.sale(), shop.sale()];
  await lab.done(other.release());
  await lab.advance(0);

  // Its lease ends, and another process reads.
  shop.freeze();
  await lab.advance(LEASE_MS + 1);
  expect(await lab.done(openShop().sale())).toBe(10);
  shop.thaw();

  for (const each of sales) await expect(lab.done(each)).rejects.toThrow(STALE);
  expect([shop.asked.at(-1), lab.redis('GET', 'stock')]).toEqual(['write stock 7 with 2', '9']);
});

test('combine: a holder that knows that it has lost the lock writes nothing', async () => {
  const { asked, sale, world } = openShop();
  lab.redis('SET', 'stock', 10);
  const sold = sale({ business: async () => void (await world.sleep(LEASE_MS)) });
  await lab.advance(0);

  // It is told by its next renewal.
  lab.redis('DEL', 'lock');

  await expect(lab.done(sold)).rejects.toMatchObject(notHeld);
  expect([asked, lab.redis('GET', 'stock')]).toEqual([['read stock with 1'], '10']);
});
