// The test bed of a drill of the clean-up: orders that are due, and ticks that can be held.

import { randomUUID } from 'node:crypto';
import { stockOf } from '../../locks/index.ts';
import type { TickResult, TickScript } from '../../services/inventory/lab/contract.ts';
import { jobLockKey } from '../../services/inventory/orders/jobs/guards.ts';
import { keysOf, restoredKey, stockKey } from '../../services/inventory/store.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatNumber } from '../evidence/numbers.ts';
import type { Judgement } from '../harness/play.ts';
import type { TargetNode } from '../harness/target.ts';
import { shortNameOf } from '../staircase/staircase.ts';
import { asDrillOn, type OrderDrill, openShop, type ShopOptions, STEP_LIMIT_MS } from './shop.ts';

/** A lease that no tick outlives, in milliseconds, for drills that are not about it. */
export const LONG_LEASE_MS = 30_000;
/** How long to wait before the next tick when one was skipped, in milliseconds. */
const TRY_AGAIN_MS = 50;

/** A drill of the clean-up: it looks what is restored under a guard. */
export type GuardDrill = OrderDrill<CleanUpTestBed>;

/** An order of one unit that is due. Its sku is its own, so that the stock tells how often its unit came back. */
interface DueOrder {
  id: string;
  sku: string;
}

export type CleanUpTestBed = Awaited<ReturnType<typeof openCleanUp>>;

/** A shop whose nodes clean up under one guard, when the drill says so. */
async function openCleanUp(options: ShopOptions) {
  const { leaseMs } = options;
  const guard = shortNameOf(options.stage);
  const shop = await openShop(options);
  const { nodes, query, until, redis } = shop;
  const lock = (await shop.first.state()).lock;
  const isInMysql = stockOf(lock) === 'mysql';
  const orders: DueOrder[] = [];

  /** Writes so many orders that are due, the first one the longest; their units are not in stock. */
  async function makeDue(count: number) {
    shop.mustBeOpen();
    const made = Array.from({ length: count }, (_, i) => ({
      id: randomUUID(),
      sku: `drill-due-${orders.length + i + 1}`,
    }));
    if (isInMysql) await query('INSERT INTO tb_stock (sku, stock) VALUES ?', [made.map(({ sku }) => [sku, 0])]);
    else await Promise.all(made.map(({ sku }) => redis.set(stockKey(sku), 0)));
    const rows = made.map(({ id, sku }, i) => [id, sku, 1, 1_000, 'the drill', lock, String(i)]);
    const due = made.map(
      (_, i) => `(?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL ${count - i} SECOND, UTC_TIMESTAMP(3))`,
    );
    const sql = `INSERT INTO tb_order (id, sku, quantity, amount, node, lock_name, sale_id, created_at, due_at, changed_at)
      VALUES ${due.join()}`;
    await query(sql, rows);
    orders.push(...made);
  }

  /** How many orders MySQL calls closed. */
  async function closed() {
    const [row] = await query<{ closed: number }>("SELECT COUNT(*) AS closed FROM tb_order WHERE status = 'CLOSED'");
    return Number(row?.closed);
  }

  /** How often the unit of each order has come back, in the order of the orders. */
  async function timesRestored(): Promise<number[]> {
    if (!isInMysql) return Promise.all(orders.map(async ({ sku }) => Number(await redis.get(stockKey(sku)))));
    const rows = await query<DueOrder & { stock: number }>('SELECT sku, stock FROM tb_stock');
    return orders.map(({ sku }) => Number(rows.find((row) => row.sku === sku)?.stock));
  }

  const unitsRestored = async () => (await timesRestored()).reduce((sum, times) => sum + times, 0);

  async function tick(node: TargetNode): Promise<TickResult> {
    shop.mustBeOpen();
    return node.tick();
  }

  /** Ticks until no other tick is in the way. Resolves with the last answer, skipped if it was never let in for so long. */
  async function tickWhenFree(node: TargetNode, limitMs: number): Promise<TickResult> {
    const deadline = performance.now() + limitMs;
    let result = await tick(node);
    while (result.outcome === 'skipped' && performance.now() < deadline) {
      await shop.rest(TRY_AGAIN_MS);
      result = await tick(node);
    }
    return result;
  }

  /** Ticks until whatever an earlier drill left behind is gone: a lock, or a script that no tick has followed. */
  async function letTickThrough(node: TargetNode) {
    let isOver = false;
    const ending = tickWhenFree(node, STEP_LIMIT_MS).finally(() => {
      isOver = true;
    });
    ending.catch(() => {});
    await until(`The clean-up of ${node.name} does not end.`, async () => {
      await node.resume();
      return isOver;
    });
    const result = await ending;
    if (result.outcome !== 'ran')
      throw new Error(`The clean-up of ${node.name} ${describeTick(result)} under ${guard}.`);
  }

  /** Starts a tick. Resolves when it stays where the script says, or is over without coming so far. */
  async function startTick(node: TargetNode, script: TickScript) {
    shop.mustBeOpen();
    const { held } = await node.ticks();
    await node.scriptTick(script);
    let ended: TickResult | undefined;
    const result = tick(node);
    // The node may be killed meanwhile.
    result.then((end) => (ended = end)).catch(() => {});
    await until(
      `The tick of ${node.name} neither stayed nor ended.`,
      async () => ended !== undefined || (await node.ticks()).held > held,
    );
    return { node, result, ended: () => ended };
  }

  /** Starts a tick that no other keeps out, and resolves when it is held. Throws NotStagedError when it did not stay. */
  async function holdTick(node: TargetNode, script: TickScript) {
    const started = await startTick(node, script);
    const ended = started.ended();
    if (ended) throw new NotStagedError(`The tick of ${node.name} did not stay: it ${describeTick(ended)}.`);
    return started;
  }

  /**
   * What MySQL and the stock say: each order is closed, and its unit has come back once. `how` tells in a clause how a unit came
   * back twice, or not at all.
   */
  async function judge(how: string): Promise<Judgement> {
    const [times, open] = [await timesRestored(), orders.length - (await closed())];
    const restored = times.reduce((sum, each) => sum + each, 0);
    const wrong = orders.flatMap((order, i) => (times[i] === 1 ? [] : [{ ...order, times: times[i] ?? 0 }]));
    const isOnce = wrong.length === 0 && open === 0;
    const count = `${countOf(restored, 'unit')} came back for ${formatNumber(orders.length)} that ${orders.length === 1 ? 'was' : 'were'} due`;
    const stillOpen = open > 0 ? ` ${countOf(open, 'order')} still open.` : '';
    return {
      verdict: isOnce ? 'pass' : 'fail',
      reason: isOnce ? `${count}.` : `${count}: ${how}.${stillOpen}`,
      figures: { due: orders.length, restored, closed: orders.length - open },
      witnesses: wrong.map(({ id, times }) =>
        times === 0 ? `the unit of order ${id} never came back` : `the unit of order ${id} came back ${times} times`,
      ),
    };
  }

  /** Throws NotStagedError when a unit is back already. */
  async function nothingRestored() {
    const units = await unitsRestored();
    if (units > 0) throw new NotStagedError(`${countOf(units, 'unit')} came back before all ticks had read.`);
  }

  /** Throws NotStagedError when a tick failed: then it was neither let in nor kept out. One that lost its lock was let in. */
  function mustNotFail(node: TargetNode, result: TickResult) {
    const isAmiss = result.outcome === 'failed' && result.code !== 'LOCK_NOT_HELD';
    if (isAmiss) throw new NotStagedError(`The tick of ${node.name} ${describeTick(result)}.`);
  }

  /** Throws NotStagedError when a tick that nobody keeps out has not run to its end. */
  function mustHaveRun(node: TargetNode, result: TickResult) {
    if (result.outcome !== 'ran') throw new NotStagedError(`The tick of ${node.name} ${describeTick(result)}.`);
  }

  async function close() {
    await shop.close(async () => {
      await Promise.all(orders.map(({ id, sku }) => redis.del(stockKey(sku), restoredKey(sku, id))));
      if (isInMysql) await query("DELETE FROM tb_stock WHERE sku LIKE 'drill-due-%'");
      // Some locks never end when their holder is dead.
      await redis.del(...keysOf(jobLockKey(guard)));
      for (const node of nodes) await node.setGuard('conditional');
    });
    return { events: [], told: shop.emitted };
  }

  try {
    for (const node of nodes) await node.setGuard(guard, { leaseMs, minHoldMs: 0 });
    for (const node of nodes) await letTickThrough(node);
  } catch (error) {
    await shop.close();
    throw error;
  }

  return {
    ...shop,
    guard,
    leaseMs,
    makeDue,
    closed,
    unitsRestored,
    tick,
    tickWhenFree,
    startTick,
    holdTick,
    nothingRestored,
    mustNotFail,
    mustHaveRun,
    judge,
    close,
  };
}

export const asGuardDrill = asDrillOn(openCleanUp);

/** `ran and restored 60 units`, `was skipped`. */
export function describeTick({ outcome, restored, detail }: TickResult): string {
  if (outcome === 'skipped') return 'was skipped';
  if (outcome === 'failed') return `failed (${detail ?? 'no reason given'})`;
  return `ran and restored ${countOf(restored, 'unit')}`;
}
