// One click, and an nginx that sends it to the other node when the first has died: shown on a copy of its configuration.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startNginx } from '../../../../scripts/stack/nginx.ts';
import { makeTempDir, projectDir } from '../../../../scripts/stack/parts.ts';
import type { Idempotency } from '../../../../services/inventory/orders/idempotency/index.ts';
import { type Answer, ask, type TestNode, until } from '../node-under-test.ts';
import { newKey, openPair } from './keyed.ts';
import { openShop, type Shop, supply } from './own-shop.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

/** nginx before two nodes. Both will make their sale and then keep the answer to themselves. */
async function openFront(sku: string, sendsAgain: boolean, way: Idempotency = 'table') {
  const { first, second } = await openPair(shop, way);
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const nodes = [first, second].map(({ port }) => `127.0.0.1:${port}`);
  const nginx = await startNginx({ nodes, dir: temp.dir, sendsAgain });
  onTestFinished(nginx.part.stop);
  await supply(first, sku, 5);
  for (const node of [first, second]) await node.lab('PUT', '/next-sale', { beforeAnswer: true });
  return { url: nginx.url, nodes: [first, second], accessLog: nginx.accessLog };
}

/** One click. The node that it goes to dies when it has sold, and before it has answered. */
async function clickAndKill({ url, nodes }: { url: string; nodes: TestNode[] }, sku: string, init: RequestInit) {
  const click = ask(`${url}/inventory/sale?sku=${sku}`, init);
  await until('the order is written', async () => (await shop.ordersOf(sku)).length === 1);
  const [order] = await shop.ordersOf(sku);
  // The other one is to answer.
  for (const node of nodes) if (node.name !== order?.node) await node.lab('PUT', '/next-sale', {});
  nodes.find(({ name }) => name === order?.node)?.signal('SIGKILL');
  return { order, answer: (await click) as Answer };
}

describe('the shipped configuration', () => {
  test('never sends a sale again', () => {
    const template = readFileSync(join(projectDir, 'nginx/nginx.conf.template'), 'utf8');
    expect([...template.matchAll(/^ *(proxy_next_upstream .*)$/gm)].map(([, line]) => line)).toEqual([
      'proxy_next_upstream off;',
    ]);
  });

  test.each(['POST'])('%s: one click, one order, and an answer that says that nobody knows', async (method) => {
    const sku = `shipped-${method}`;
    const { answer } = await clickAndKill(await openFront(sku, false), sku, { method });

    expect(answer.body).toMatchObject({ code: 'NODE_UNAVAILABLE', definite: false });
    expect(await shop.ordersOf(sku)).toHaveLength(1);
  });
});

describe('a copy that sends again', () => {
  test.each(['POST'])('%s without a key: one click, two orders', async (method) => {
    const sku = `again-${method}`;
    const front = await openFront(sku, true);
    const { answer, order } = await clickAndKill(front, sku, { method });

    expect(answer.status).toBe(200);
    expect(answer.body.orderId).not.toBe(order?.id);
    expect(await shop.ordersOf(sku)).toHaveLength(2);
    expect(await shop.stockOf(sku)).toBe(3);
    // One request in its log, and both nodes on the line.
    const ports = front.nodes.map(({ port }) => `127\\.0\\.0\\.1:${port}`).join('|');
    const line = new RegExp(`"${method} /inventory/sale\\?sku=${sku} [^\\n]* 200 node=(${ports}), (${ports}) `);
    await until('the click is in the log', () => line.test(readFileSync(front.accessLog, 'utf8')));
  });

  test.each(['POST'])('%s with a key: one click, one order, and its answer', async (method) => {
    const sku = `keyed-${method}`;
    const headers = { 'idempotency-key': newKey() };
    const { answer, order } = await clickAndKill(await openFront(sku, true), sku, { method, headers });

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ orderId: order?.id, node: order?.node });
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(await shop.ordersOf(sku)).toHaveLength(1);
    expect(await shop.stockOf(sku)).toBe(4);
  });
});
