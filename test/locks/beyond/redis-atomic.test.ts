import { expect, test } from 'vitest';
import { takeOne } from '../../../locks/beyond/redis-atomic.ts';
import type { SaleOptions } from '../../../locks/lock.ts';
import { openLab } from '../lab.ts';
import { saleOptions } from '../lock-options.ts';

const lab = openLab();

/** Sells in a process of its own. */
function openShop() {
  const { redis } = lab.process('0-none');
  return (given: Partial<SaleOptions> = {}) => takeOne(saleOptions({ redis, stockKey: 'stock', ...given }));
}

test('redis-atomic: the business comes before the step, and what is emitted is what happened', async () => {
  lab.redis('SET', 'stock', 5);
  const steps: string[] = [];

  const sale = openShop()({
    business: async () => void steps.push(`business at stock ${lab.redis('GET', 'stock')}`),
    emit: (step, stock) => void steps.push(stock === undefined ? step : `${step} ${stock}`),
  });

  expect(await lab.done(sale)).toBe(5);
  expect(steps).toEqual(['began', 'business at stock 5', 'writing', 'read 5', 'wrote 4']);
});
