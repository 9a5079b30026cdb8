import { beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import * as contract from '../../../../services/inventory/lab/contract.ts';
import { startNode, type TestNode } from '../node-under-test.ts';
import { openShop, type Shop } from '../orders/own-shop.ts';

let shop: Shop;
let node: TestNode;

beforeAll(async () => {
  shop = await openShop();
  node = await startNode(shop.redis.url, { MYSQL_URL: shop.url });
});

test('contract: what a node answers is the contract, and has no member besides', async () => {
  await node.sell('unit');
  await node.lab('POST', '/jobs/cleanup', {});

  for (const [path, schema] of [
    ['/state', contract.shownStateSchema],
    ['/history', contract.historySchema],
    ['/heap', contract.heapSchema],
    ['/redis', contract.redisSchema],
    ['/jobs/cleanup', contract.jobStateSchema],
  ] as const) {
    const { body } = await node.lab('GET', path);
    expect({ path, ...(schema satisfies z.ZodType).parse(body) }).toEqual({ path, ...body });
  }
});
