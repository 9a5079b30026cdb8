import { expect, test } from 'vitest';
import { contestants, httpContestants, withOrders } from '../../../loadtest/bench/contestants.ts';
import { lockName, strategies } from '../../../locks/index.ts';
import { inventorySettings } from '../../../services/inventory/settings.ts';

const ceilingsOf = (all: typeof contestants) => all.filter(({ kind }) => kind === 'ceiling');

test('ceilings: the service knows none of them', () => {
  for (const { name } of [...ceilingsOf(contestants), ...ceilingsOf(httpContestants)]) {
    expect(strategies).not.toHaveProperty(name);
    expect(lockName(name)).toBeUndefined();
    expect(inventorySettings.safeParse({ LOCK_VERSION: name }).success).toBe(false);
  }
});

test('with orders: each as it is, and once more with an order for each sale', () => {
  const [cohort] = contestants.filter(({ name }) => name === 'cohort');
  expect(withOrders(cohort ? [cohort] : []).map(({ name, ordersUnder }) => [name, ordersUnder])).toEqual([
    ['cohort', undefined],
    ['cohort+orders', 'cohort'],
  ]);
});
