// Requests with an Idempotency-Key, and nodes that treat them in each way.

import { randomUUID } from 'node:crypto';
import type { Idempotency } from '../../../../services/inventory/orders/idempotency/index.ts';
import { type Answer, ask, type TestNode } from '../node-under-test.ts';
import type { Shop } from './own-shop.ts';

/** A key that nobody has used. */
export const newKey = () => `"${randomUUID()}"`;

/** Posts with the header as it is given. */
export const postKeyed = (node: Pick<TestNode, 'url'>, path: string, key: string, init: RequestInit = {}) =>
  ask(`${node.url}${path}`, { method: 'POST', ...init, headers: { 'idempotency-key': key, ...init.headers } });

export const sellKeyed = (node: Pick<TestNode, 'url'>, sku: string, key: string, init?: RequestInit): Promise<Answer> =>
  postKeyed(node, `/inventory/sale?sku=${sku}`, key, init);

/** Two nodes of the shop. */
export async function openPair(shop: Shop, idempotency: Idempotency) {
  const [first, second] = await Promise.all([
    shop.openNode({ IDEMPOTENCY: idempotency }),
    shop.openNode({ IDEMPOTENCY: idempotency }),
  ]);
  return { first, second };
}

export type NodePair = Awaited<ReturnType<typeof openPair>>;
