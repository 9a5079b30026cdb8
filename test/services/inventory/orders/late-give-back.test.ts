// A sale whose order can't be written puts its unit back, as long as nobody else may have done it.

import { afterEach, expect, test, vi } from 'vitest';
import type { OrderStore } from '../../../../services/inventory/orders/order-store.ts';
import { openSaleOrder } from '../../../../services/inventory/orders/sale-order.ts';
import { saleLifeMs } from '../../../../services/inventory/sale-life.ts';
import type { Sold } from '../../../../services/inventory/sku.ts';

const WAIT_TIMEOUT_MS = 10_000;
afterEach(() => void vi.useRealTimers());

test.each([
  { afterMs: saleLifeMs(WAIT_TIMEOUT_MS) / 2, timesBack: 1, definite: true },
  { afterMs: saleLifeMs(WAIT_TIMEOUT_MS) / 2 + 1, timesBack: 0, definite: false },
])('its order fails after $afterMs ms: the unit is put back $timesBack times', async ({ afterMs, ...expected }) => {
  vi.useFakeTimers();
  const place = async () => {
    vi.advanceTimersByTime(afterMs);
    throw new Error('The table is full.');
  };
  const orders = { intend: async () => {}, forget: async () => {}, place } as Partial<OrderStore> as OrderStore;
  const giveBack = vi.fn(async () => {});
  const sale = { sku: '001', saleId: '0001', node: 'node-1', port: 7777, lock: '8-auto-renew', holder: 'a:0001' };
  const order = openSaleOrder({ sales: { giveBack }, settings: { WAIT_TIMEOUT_MS } }, orders, () => {});

  await order.intend(sale, new AbortController().signal);
  const failed = await order.place(sale as Partial<Sold> as Sold).catch((error) => error);

  expect({ timesBack: giveBack.mock.calls.length, definite: failed.problem.definite }).toEqual(expected);
});
