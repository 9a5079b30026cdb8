import { expect, test } from 'vitest';
import { because, type Reason } from '../../../loadtest/narration/reasons.ts';
import { type Answers, faultsOf } from '../../../loadtest/orders/random-kills.ts';
import type { Holdings } from '../../../services/inventory/orders/accounts.ts';

/** Of 100 units 60 were sold: 20 orders wait, 20 are paid, 10 refunded, and 10 closed and restored. */
const settled: Holdings = {
  sku: '001',
  stockIn: 'redis',
  supply: 100,
  inStock: 50,
  unpaid: 20,
  paid: 20,
  refunded: 10,
  restored: 10,
  owed: 0,
  unrestored: 0,
  intended: 0,
};

const tooMany = (inDoubt: number, sold: number) =>
  because('more orders than sold', { orders: 60, inDoubt, sold, unanswered: 0 });
const oneInDoubt = { sold: 60, inDoubt: { NODE_UNAVAILABLE: 1 } };

test.each<[string, Partial<Answers>, Partial<Holdings>, Reason[]]>([
  ['all is sold and answered', { sold: 60 }, {}, []],
  ['a sale without an answer has its order', { sold: 59, inDoubt: { NODE_UNAVAILABLE: 3 } }, {}, []],
  ['a sale without an answer took a unit', oneInDoubt, { inStock: 49, intended: 2 }, []],
  ['a unit is lost', { sold: 60 }, { inStock: 49 }, [because('units unexplained', { units: 1 })]],
  ['a unit is lost behind an intent', { sold: 60 }, { inStock: 49, intended: 1 }, [tooMany(1, 60)]],
  ['an order is lost', { sold: 61 }, {}, [because('orders missing', { sold: 61, orders: 60 })]],
  ['an order nobody asked for', { sold: 59 }, {}, [tooMany(0, 59)]],
])('%s', (_, answers, differs, faults) => {
  expect(
    faultsOf({ sold: 0, refused: { OUT_OF_STOCK: 9 }, inDoubt: {}, ...answers }, { ...settled, ...differs }),
  ).toEqual(faults);
});
