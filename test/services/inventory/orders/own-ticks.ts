// Ticks of the clean-up, step by step, on orders that are due.

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { JobState, TickResult } from '../../../../services/inventory/orders/contract.ts';
import { type TestNode, until } from '../node-under-test.ts';
import { type Shop, supply } from './own-shop.ts';

export const UNITS_IN_STOCK = 50;

/** Writes `count` orders of one unit each that are due, the first one first, and puts UNITS_IN_STOCK units of their sku in stock. */
export async function makeDue(shop: Shop, node: TestNode, sku: string, count = 10, lock = '8-auto-renew') {
  const rows = Array.from({ length: count }, (_, n) => [randomUUID(), sku, 1, 1_000, 'test', lock, String(n)]);
  const sql = `INSERT INTO tb_order (id, sku, quantity, amount, node, lock_name, sale_id, created_at, due_at, changed_at) VALUES
    ${rows.map((_, n) => `(?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL ${1_000 - n} SECOND, UTC_TIMESTAMP(3))`).join()}`;
  await shop.query(sql, rows);
  await supply(node, sku, UNITS_IN_STOCK);
  return rows.map(([id]) => String(id));
}

export const jobOf = async (node: TestNode) => (await node.lab('GET', '/jobs/cleanup')).body as unknown as JobState;

export async function setJobLock(
  nodes: TestNode[],
  lock: string,
  timing: { leaseMs?: number; minHoldMs?: number } = {},
) {
  const change = { guard: { lock, ...timing } };
  for (const node of nodes) expect((await node.lab('PUT', '/jobs/cleanup', change)).status).toBe(200);
}

/** Runs one tick now. */
export async function tick(node: TestNode): Promise<TickResult> {
  const answer = await node.lab('POST', '/jobs/cleanup', {});
  expect(answer.status).toBe(200);
  return answer.body as unknown as TickResult;
}

/** Starts a tick. Resolves when it is held where `after` says, or has ended without coming so far. */
export async function startTick(node: TestNode, after: 'read' | 'restored' | 'closed', orders = 1) {
  expect((await node.lab('PUT', '/jobs/cleanup', { script: { after, orders } })).status).toBe(200);
  let isOver = false;
  const result = tick(node).finally(() => {
    isOver = true;
  });
  result.catch(() => {});
  await until('the tick stays', async () => isOver || (await jobOf(node)).held === 1);
  return { result, isHeld: !isOver, resume: () => node.lab('PUT', '/resume') };
}

/** What all orders of a sku have come to. */
export async function countOrders(shop: Shop, sku: string): Promise<Record<string, number>> {
  const sql = `SELECT CONCAT(status, IF(status = 'CLOSED' AND restored_at IS NULL, ' and not restored', '')) AS state, COUNT(*) AS orders
    FROM tb_order WHERE sku = ? GROUP BY state`;
  return Object.fromEntries((await shop.query(sql, [sku])).map(({ state, orders }) => [state, Number(orders)]));
}
