// A sale whose order can't be written puts its unit back, as long as nobody else may have done it.

import { afterEach, expect, test, vi } from 'vitest';
import type { OrderStore } from '../../../../services/inventory/orders/order-store.ts';
import { openSaleOrder } from '../../../../services/inventory/orders/sale-order.ts';
import type { Sold } from '../../../../services/inventory/sale/sku.ts';
import { saleLifeMs } from '../../../../services/inventory/settings/limits.ts';

afterEach(() => void vi.useRealTimers());

test.each([
  { waitTimeoutMs: 10_000, afterMs: 15_000, timesBack: 1, definite: true },
  { waitTimeoutMs: 10_000, afterMs: 15_001, timesBack: 0, definite: false },
  { waitTimeoutMs: 600_000, afterMs: 605_000, timesBack: 1, definite: true },
  { waitTimeoutMs: 1, afterMs: 5_002, timesBack: 0, definite: false },
])(
  'it waits for $waitTimeoutMs ms and its order fails after $afterMs ms: the unit is put back $timesBack times',
  async (each) => {
    const { waitTimeoutMs, afterMs, ...expected } = each;
    vi.useFakeTimers();
    const place = async () => {
      vi.advanceTimersByTime(afterMs);
      throw new Error('The table is full.');
    };
    const intend = vi.fn<OrderStore['intend']>(async () => {});
    const orders = { intend, forget: async () => {}, place } as Partial<OrderStore> as OrderStore;
    const giveBack = vi.fn(async () => {});
    const sale = { sku: '001', saleId: '0001', node: 'node-1', port: 7777, lock: '8-auto-renew', holder: 'a:0001' };
    const order = openSaleOrder({ sales: { giveBack, waitTimeoutMs: () => waitTimeoutMs } }, orders, () => {});

    await order.intend(sale, new AbortController().signal);
    const failed = await order.place(sale as Partial<Sold> as Sold).catch((error) => error);

    expect(intend.mock.calls[0]?.[0].lifeMs).toBe(saleLifeMs(waitTimeoutMs));
    expect({ timesBack: giveBack.mock.calls.length, definite: failed.problem.definite }).toEqual(expected);
  },
);
