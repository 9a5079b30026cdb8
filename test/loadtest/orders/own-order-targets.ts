// Stacks for the tests of the orders' drills, and what must be true of them after each.

import { Redis } from 'ioredis';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Drill, DrillContext, DrillOutcome } from '../../../loadtest/harness/drill.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { guardStaircase } from '../../../loadtest/staircase/guards.ts';
import { keyStaircase, refundStaircase } from '../../../loadtest/staircase/keys.ts';
import { rowOf, verdictExpected } from '../../../loadtest/staircase/lookup.ts';
import { storeStaircase } from '../../../loadtest/staircase/stores.ts';
import { createTargets, type Targets } from '../../../loadtest/worlds/real/targets.ts';

export const LEASE_MS = 600;
const tables = ['tb_order', 'tb_intent', 'tb_payment', 'tb_refund', 'tb_request'];

/** What is restored of 100 units that are due, where it is not 100. */
const restored: Record<string, Record<string, number>> = {
  'guard-none': { 'same-node-twice': 200, 'double-restore': 200, 'clock-skew': 160, 'job-outlives-lease': 160 },
  'guard-in-process': { 'double-restore': 200, 'clock-skew': 160, 'job-outlives-lease': 160 },
  'guard-2-recursive-retry': { 'job-crashes-half-way': 50, 'job-crashes-after-close': 50 },
  'guard-3-spin': { 'job-crashes-half-way': 50, 'job-crashes-after-close': 50 },
  'guard-4-ttl': { 'job-outlives-lease': 160 },
  'guard-5-owner-check': { 'job-outlives-lease': 160 },
  'guard-6-lua-release': { 'job-outlives-lease': 160 },
  'guard-7-reentrant': { 'job-outlives-lease': 160 },
  'guard-close-first': { 'job-crashes-after-close': 99 },
};
/** What is made of one intent, where it is not one. */
const made: Record<string, Record<string, number>> = {
  'key-none': { 'one-node-click': 50, 'double-click': 50 },
};

/** The figures that a cell must come to. */
export function figuresAsDrawn(row: string, drill: string) {
  const holds = verdictExpected(row, drill) === 'pass';
  if (row.startsWith('guard-')) {
    const units = holds ? 100 : (restored[row]?.[drill] ?? 101);
    return { due: 100, restored: units, closed: units === 50 ? (drill === 'job-crashes-half-way' ? 49 : 50) : 100 };
  }
  if (row.startsWith('report-')) return { late: holds ? 0 : 1 };
  if (row.startsWith('schedule-')) return { [drill === 'runs-overlap' ? 'meanwhile' : 'late']: holds ? 0 : 3 };
  if (row.startsWith('stores-')) {
    if (['lost-key', 'wrong-hint'].includes(drill)) return { units: 1, sold: holds ? 1 : 0 };
    // Nobody sells any more under the lock of the dead node: the stores differ.
    const isStuck = row.endsWith('2-recursive-retry');
    return { units: 1, sold: holds || isStuck ? 1 : 2, ...(isStuck && !holds && { mysql: 0, redis: 1 }) };
  }
  if (drill === 'refund-crashes') return { refunds: holds ? 1 : 0 };
  const count = holds ? 1 : (made[row]?.[drill] ?? 2);
  if (drill === 'redelivered') return { messages: 1, payments: count };
  return drill.startsWith('refund-') ? { refunds: count } : { orders: count };
}

export interface OrderDrillOptions extends Partial<Pick<DrillContext, 'signal' | 'narrate' | 'tries'>> {
  /** Makes of the target one on which something is different. */
  wrap?: (target: Target) => Target;
}

/** A stack for the guards, and one for each strategy. Each drill leaves its stack as it was. */
export function ownOrderTargets() {
  const stackOf = (row: string) => rowOf(row)?.stack?.name ?? '';
  const names = [
    ...new Set(
      [guardStaircase, keyStaircase, refundStaircase, storeStaircase]
        .flatMap(({ rows }) => Object.keys(rows))
        .map(stackOf),
    ),
  ];
  const deaths: string[] = [];
  let targets: Targets;

  beforeAll(() => {
    targets = createTargets({ backends: ['mysql', 'zookeeper'], onDeath: (sentence) => deaths.push(sentence) });
  });

  afterAll(async () => {
    await targets.close();
    expect(deaths).toEqual([]);
  });

  return async function run(drill: Drill, row: string, options: OrderDrillOptions = {}): Promise<DrillOutcome> {
    const { wrap = (target) => target, ...context } = options;
    const target = await targets.open('steps', names.indexOf(stackOf(row)), row);
    const hasOrders = rowOf(row)?.stack?.options.env?.['ORDERS'] !== 'off';
    const ran = drill.run({
      target: wrap(target),
      stage: row,
      settings: { requests: 0, connections: 0, stock: 0, units: 0, leaseMs: LEASE_MS },
      signal: new AbortController().signal,
      onProgress() {},
      narrate: async () => {},
      // What is different may be so for its first try only.
      ...(options.wrap && { tries: 1 }),
      ...context,
    });
    await ran.catch(() => {});
    await isAsBefore(target, hasOrders);
    return ran;
  };
}

/** Every node and nginx answer, nothing is under way, and no order and no message is left. */
async function isAsBefore({ nodes, url, stack, mysqlUrl = '' }: Target, hasOrders: boolean) {
  for (const origin of [url, ...nodes.map(({ publicUrl }) => publicUrl)]) {
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  }
  for (const node of nodes) {
    const { inFlight, unreleased } = await node.state();
    const { running, held } = hasOrders ? await node.ticks() : { running: 0, held: 0 };
    expect([node.name, inFlight, unreleased, running, held]).toEqual([node.name, 0, 0, 0, 0]);
  }
  const mysql = await createConnection(mysqlUrl);
  for (const table of hasOrders ? tables : ['tb_stock']) {
    const [rows] = await mysql.query<RowDataPacket[]>(`SELECT COUNT(*) AS left_over FROM ${table}`);
    expect({ table, left: Number(rows[0]?.left_over) }).toEqual({ table, left: 0 });
  }
  await mysql.end();
  const redis = new Redis(stack?.redis.url ?? '');
  expect(await redis.keys('{payments}*')).toEqual([]);
  redis.disconnect();
}
