// Requests with an Idempotency-Key.

import { randomUUID } from 'node:crypto';
import { type Answer, ask, type TestNode } from '../node-under-test.ts';

/** A key that nobody has used. */
export const newKey = () => `"${randomUUID()}"`;

/** Posts with the header as it is given. */
export const postKeyed = (node: Pick<TestNode, 'url'>, path: string, key: string, init: RequestInit = {}) =>
  ask(`${node.url}${path}`, { method: 'POST', ...init, headers: { 'idempotency-key': key, ...init.headers } });

export const sellKeyed = (node: Pick<TestNode, 'url'>, sku: string, key: string, init?: RequestInit): Promise<Answer> =>
  postKeyed(node, `/inventory/sale?sku=${sku}`, key, init);
