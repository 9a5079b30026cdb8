import { beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { type LabClient, openLabClient } from '../../../../loadtest/harness/lab-client.ts';
import * as contract from '../../../../services/inventory/lab/contract.ts';
import { startNode, type TestNode } from '../node-under-test.ts';
import { openShop, type Shop } from '../orders/own-shop.ts';

let shop: Shop;
let node: TestNode;
let lab: LabClient;

beforeAll(async () => {
  shop = await openShop();
  node = await startNode(shop.redis.url, { MYSQL_URL: shop.url });
  lab = await openLabClient(`http://127.0.0.1:${node.labPort}`);
});

test('contract: what the client asks for reaches the node, member by member', async () => {
  await lab.setLock('4-ttl', { leaseMs: 5_000, retryDelayMs: 5, waitTimeoutMs: 900 });
  expect(await lab.state()).toMatchObject({ lock: '4-ttl', leaseMs: 5_000, retryDelayMs: 5, waitTimeoutMs: 900 });
  await lab.setLock('8-auto-renew');
  expect(await lab.state()).toMatchObject({ lock: '8-auto-renew', leaseMs: 600_000, waitTimeoutMs: 10_000 });

  await lab.setGuard('zookeeper').then(
    () => expect.unreachable(),
    (error) => expect(String(error)).toContain('ZOOKEEPER_URL'),
  );
  await lab.setGuard('4-ttl', { leaseMs: 700, minHoldMs: 30 });
  expect((await node.lab('GET', '/jobs/cleanup')).body).toMatchObject({ guard: '4-ttl', leaseMs: 700, minHoldMs: 30 });

  await lab.setStock(7, 'unit');
  await lab.setStock(8);
  expect([await lab.stock('unit'), await lab.stock('001'), await lab.stock('none')]).toEqual([7, 8, undefined]);
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
