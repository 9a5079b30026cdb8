// Stacks for the tests of the orders' drills, and what must be true of them after each.

import { Redis } from 'ioredis';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Drill, DrillContext, DrillOutcome } from '../../../loadtest/harness/drill.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { createTargets, type Targets } from '../../../loadtest/harness/targets.ts';
import { guardStaircase } from '../../../loadtest/staircase/guards.ts';
import { keyStaircase } from '../../../loadtest/staircase/keys.ts';
import { rowOf, taughtVerdict } from '../../../loadtest/staircase/lookup.ts';

export const LEASE_MS = 600;
const ANSWER_LIMIT_MS = 5_000;
const tables = ['tb_order', 'tb_intent', 'tb_payment', 'tb_request'];

/** What is restored of 100 units that are due, where it is not 100. */
const restored: Record<string, Record<string, number>> = {
  'guard-none': { 'same-node-twice': 200, 'double-restore': 200, 'clock-skew': 158, 'job-outlives-lease': 160 },
  'guard-in-process': { 'double-restore': 200, 'clock-skew': 158, 'job-outlives-lease': 160 },
  'guard-2-recursive-retry': { 'job-crashes-half-way': 50 },
  'guard-3-spin': { 'job-crashes-half-way': 50 },
  'guard-4-ttl': { 'job-outlives-lease': 160 },
  'guard-5-owner-check': { 'job-outlives-lease': 160 },
  'guard-6-lua-release': { 'job-outlives-lease': 160 },
  'guard-7-reentrant': { 'job-outlives-lease': 160 },
};
/** What is made of one intent, where it is not one. */
const made: Record<string, Record<string, number>> = {
  'key-none': { 'one-node-click': 50, 'double-click': 50 },
};

/** The figures that a cell must come to. */
export function figuresAsDrawn(row: string, drill: string) {
  const holds = taughtVerdict(row, drill) === 'pass';
  if (row.startsWith('guard-')) {
    const units = holds ? 100 : (restored[row]?.[drill] ?? 101);
    return { due: 100, restored: units, closed: units === 50 ? 49 : 100 };
  }
  if (row.startsWith('schedule-')) return { [drill === 'runs-overlap' ? 'meanwhile' : 'late']: holds ? 0 : 3 };
  const count = holds ? 1 : (made[row]?.[drill] ?? 2);
  if (drill === 'redelivered') return { messages: 1, payments: count };
  return drill === 'refund-twice' ? { refunds: count } : { orders: count };
}

export interface OrderDrillOptions extends Partial<Pick<DrillContext, 'signal' | 'narrate' | 'tries'>> {
  /** Makes of the target one on which something is different. */
  wrap?: (target: Target) => Target;
}

/**
 * Stacks that may be used at the same time: `guardStacks` for the guards, and one for each strategy. Each drill has its stack alone,
 * and leaves it as it was.
 */
export function ownOrderTargets(guardStacks: number) {
  let targets: Targets;
  const deaths: string[] = [];
  /** The stacks that nobody uses, and who waits for one: of those of the guards, and of each strategy's. */
  const free = new Map<string, number[]>();
  const waiters = new Map<string, ((worker: number) => void)[]>();
  for (const [name, workers] of Object.entries(workersOf(guardStacks))) {
    free.set(name, workers);
    waiters.set(name, []);
  }

  beforeAll(async () => {
    targets = createTargets({ backends: ['mysql', 'zookeeper'], onDeath: (sentence) => deaths.push(sentence) });
    const rows = [guardStaircase, keyStaircase].flatMap(({ rows }) => Object.keys(rows));
    // A stack that starts would hold up the drills on the others, and many at once those of another file.
    for (const [name, workers] of free) {
      const row = rows.find((row) => rowOf(row)?.stack?.name === name);
      for (const worker of workers) await targets.open('steps', worker, row);
    }
  });

  afterAll(async () => {
    await targets.close();
    expect(deaths).toEqual([]);
  });

  /** Has the next free stack of the row for as long as `act` takes. */
  async function use<T>(row: string, act: (worker: number) => Promise<T>): Promise<T> {
    const name = rowOf(row)?.stack?.name ?? '';
    const worker =
      free.get(name)?.shift() ?? (await new Promise<number>((resolve) => waiters.get(name)?.push(resolve)));
    try {
      return await act(worker);
    } finally {
      const next = waiters.get(name)?.shift();
      if (next) next(worker);
      else free.get(name)?.unshift(worker);
    }
  }

  return function run(drill: Drill, row: string, options: OrderDrillOptions = {}): Promise<DrillOutcome> {
    const { wrap = (target) => target, ...context } = options;
    return use(row, async (worker) => {
      const target = await targets.open('steps', worker, row);
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
      await isAsBefore(target);
      return ran;
    });
  };
}

/** The stacks of the guards come first, then one for each strategy. */
function workersOf(guardStacks: number): Record<string, number[]> {
  const strategies = Object.keys(keyStaircase.rows).map((row) => rowOf(row)?.stack?.name ?? '');
  return {
    orders: Array.from({ length: guardStacks }, (_, worker) => worker),
    ...Object.fromEntries(strategies.map((name, at) => [name, [guardStacks + at]])),
  };
}

/** Every node and nginx answer, nothing is under way, and no order and no message is left. */
async function isAsBefore({ nodes, url, stack, mysqlUrl = '' }: Target) {
  for (const origin of [url, ...nodes.map(({ publicUrl }) => publicUrl)]) {
    const { status } = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    expect(status).toBe(200);
  }
  for (const node of nodes) {
    const [{ inFlight, unreleased }, ticks] = [await node.state(), await node.ticks()];
    expect({ node: node.name, inFlight, unreleased, ...ticks }).toEqual({
      node: node.name,
      inFlight: 0,
      unreleased: 0,
      running: 0,
      held: 0,
    });
  }
  const mysql = await createConnection(mysqlUrl);
  for (const table of tables) {
    const [rows] = await mysql.query<RowDataPacket[]>(`SELECT COUNT(*) AS left_over FROM ${table}`);
    expect({ table, left: Number(rows[0]?.left_over) }).toEqual({ table, left: 0 });
  }
  await mysql.end();
  const redis = new Redis(stack?.redis.url ?? '');
  expect(await redis.keys('{payments}*')).toEqual([]);
  redis.disconnect();
}
