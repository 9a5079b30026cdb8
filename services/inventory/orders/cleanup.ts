import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { stockOf, strategies } from '../../../locks/index.ts';
import { ProblemError } from '../problem.ts';
import { createHeld } from '../sale/held.ts';
import type { NodeParts } from '../sale/sale-service.ts';
import { asProblem } from '../servers/away-server.ts';
import { RESTORABLE_MS } from '../servers/store.ts';
import { inTransaction, withoutTransaction } from '../servers/transaction.ts';
import { schedulesOf } from '../settings/order-settings.ts';
import type { GuardTiming, JobSchedule, JobState, ScheduledTick, TickResult, TickScript } from './contract.ts';
import { isTried, noteFailure } from './dead-letters.ts';
import { guardNamed, jobLockKey, lockOfGuard } from './jobs/guards.ts';
import { type CleanUp, type DueOrder, type Job, MAX_ORDERS } from './jobs/job.ts';
import { locksWithStockInMysql, setRestored } from './order-store.ts';
import { startSchedule } from './schedules/index.ts';

/** The most orders of one sku to restore under one lock: sales wait meanwhile. */
const MOST_AT_ONCE = 100;
const MOST_SCHEDULED = 100;
/** The time limit for closing one order, in milliseconds: no client waits for it. */
const CLOSE_LIMIT_MS = 10_000;

export type CleanUpJob = ReturnType<typeof createCleanUp>;

/**
 *
 * The cleanup job: closes orders that are due and returns their units, on its schedule, under the protection that JOB_LOCK
 * names, or under `carryOut`, which replaces it in exercises.
 *
 */
export function createCleanUp(parts: NodeParts, mysql: Pool, carryOut?: CleanUp) {
  const { settings, node, store, servers, sales, metrics, log } = parts;
  const stopping = new AbortController();
  const held = createHeld();
  const underWay = new Set<Promise<TickResult>>();
  const atStart = { leaseMs: settings.JOB_LEASE_MS, minHoldMs: settings.JOB_MIN_HOLD_MS };
  let timing = atStart;
  let guard = settings.JOB_LOCK;
  let schedule: JobSchedule = schedulesOf(settings)[0]?.[1] ?? {};
  let scheduled: ScheduledTick[] = [];
  let timer = startSchedule(schedule, scheduledTick);
  let nextScript: Required<TickScript> | undefined;

  async function scheduledTick(its: ScheduledTick) {
    scheduled = [...scheduled.slice(1 - MOST_SCHEDULED), its];
    // Two at once on one node are what a guard must bear. Under `conditional` they do no harm, and no good either.
    if (guard === 'conditional' && underWay.size > 0) return;
    // The log names the node by itself.
    const { node: _node, ...result } = await tick();
    const level = result.outcome === 'failed' ? 'warn' : result.closed + result.restored > 0 ? 'info' : 'debug';
    log[level](result, 'clean-up');
  }

  /** Runs the job once, now. Never rejects. */
  function tick(): Promise<TickResult> {
    const ticked = runTick().finally(() => underWay.delete(ticked));
    underWay.add(ticked);
    return ticked;
  }

  async function runTick(): Promise<TickResult> {
    const startedAt = performance.now();
    const result: TickResult = { outcome: 'ran', node, guard, due: 0, closed: 0, restored: 0, ms: 0 };
    const leftOut = new Map<string, unknown>();
    const job = openJob(result, leftOut);
    try {
      await store.mustCarry(guard);
      result.outcome = await (carryOut ?? guardNamed(guard))(job);
      const [why] = leftOut.values();
      if (leftOut.size > 0) throw why;
    } catch (error) {
      const { code, message, cause } = asProblem(error);
      if (code === 'INTERNAL_ERROR') log.error({ err: cause }, 'a bug');
      Object.assign(result, { outcome: 'failed', code, detail: message });
    }
    result.ms = Math.round(performance.now() - startedAt);
    metrics.jobSeconds.of('cleanup', result.outcome).observe(result.ms / 1_000);
    metrics.orders.inc({ outcome: 'closed' }, result.closed);
    return result;
  }

  /** The state of one run: its counts, the holds of its script, and the skus that it skips. */
  function openJob(result: TickResult, leftOut: Map<string, unknown>): Job {
    const name = lockOfGuard(guard);
    const script = nextScript;
    nextScript = undefined;
    const { leaseMs, minHoldMs } = timing;

    async function holdAfter(step: TickScript['after'], orders: number) {
      if (step === script?.after && orders === script.orders) await held.untilResumed();
    }

    /** Each order is for one unit, so the script counts both the same way. */
    async function count(done: 'closed' | 'restored', units = 1) {
      result[done] += units;
      await holdAfter(done, result[done]);
    }

    let begun: DueOrder | undefined;
    /** While the node stops, no order is started, and a half-done order is finished. */
    function begin(order: DueOrder) {
      if (order !== begun) unlessStopping();
      begun = order;
    }

    /** Processes orders of one sku. A failure is noted, and must not keep the run from the other skus. */
    async function orLeaveOut(orders: DueOrder[], work: () => Promise<void>) {
      const sku = orders[0]?.sku;
      if (sku === undefined || leftOut.has(sku)) return;
      await work().catch(async (error) => {
        await noteFailure(mysql, log, orders, error);
        // Every order would meet the same.
        if (asProblem(error).code === 'STORE_UNAVAILABLE') throw error;
        leftOut.set(sku, error);
      });
    }

    async function restoreAllOf(sku: string) {
      for (;;) {
        unlessStopping();
        // A tick that is to be held after so many orders is held before it has restored more.
        const most = script?.after === 'restored' ? Math.max(1, script.orders - result.restored) : MOST_AT_ONCE;
        // Read anew: another tick, or a new count of the stock, may have settled some.
        const orders = await readUnrestored(mysql, most, sku);
        await orLeaveOut(orders, () => restoreBatch(sku, orders));
        if (orders.length < most || leftOut.has(sku)) return;
      }
    }

    async function restoreBatch(sku: string, orders: DueOrder[]) {
      const ends = await sales.giveBackOrders(sku, orders);
      for (const [at, end] of ends.entries())
        if (end.status === 'fulfilled' && end.value) await count('restored', orders[at]?.quantity);
      const back = orders.filter((_, at) => ends[at]?.status === 'fulfilled');
      await withoutTransaction(mysql, (ask) => setRestored(ask, back));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    }

    return {
      async readDue() {
        const due = await readDue(mysql);
        result.due = due.length;
        await holdAfter('read', script?.orders ?? 1);
        return due;
      },
      async restore(order) {
        begin(order);
        await orLeaveOut([order], () => restore(order).then(() => count('restored', order.quantity)));
      },
      async close(order) {
        begin(order);
        await orLeaveOut([order], () => close(mysql, order).then(() => count('closed')));
      },
      async closeIn(order, work) {
        unlessStopping();
        await orLeaveOut([order], async () => {
          const done = await inTransaction(mysql, work, CLOSE_LIMIT_MS);
          if (done === 'restored') await count('restored', order.quantity);
          if (done !== 'nothing') await count('closed');
        });
      },
      async restoreClosed() {
        const closed = await readUnrestored(mysql);
        for (const sku of new Set(closed.map((order) => order.sku))) await restoreAllOf(sku);
      },
      openLock() {
        const strategy = strategies[name];
        if (strategy === undefined || !('createLock' in strategy)) throw new Error(`There is no lock ${name}.`);
        const ownerToken = randomUUID();
        const { RETRY_DELAY_MS: retryDelayMs } = settings;
        const onLeaseLost = () => log.warn({ lock: name }, 'a cleanup run lost its lock');
        const own = {
          key: jobLockKey(name),
          ownerToken,
          leaseMs,
          renewEveryMs: leaseMs / 3,
          retryDelayMs,
          onLeaseLost,
        };
        return sales.followed(strategy.createLock({ ...servers.forLock(name, leaseMs), ...own }), name, leaseMs);
      },
      minHold: () => sleep(minHoldMs, undefined, { signal: stopping.signal }).catch(() => {}),
    };
  }

  /** Returns the units under the lock of the sales, if this node's sales use that stock now. */
  async function restore({ sku, quantity, lock }: DueOrder) {
    const place = stockOf(lock);
    const restock = () => (place === 'mysql' ? servers.stockInMysql() : store.inBuckets(1)).restock(sku, quantity);
    if (place !== stockOf(sales.state().lock)) return restock();
    await sales.giveBack(sku, quantity).catch((error) => {
      // The sku was deleted. Its units are counted all the same.
      if (asProblem(error).code !== 'NOT_FOUND') throw error;
      return restock();
    });
  }

  function unlessStopping() {
    if (stopping.signal.aborted) throw new ProblemError('SHUTTING_DOWN', 'This node accepts no new work.');
  }

  return {
    tick,
    resume: held.resume,
    state: (): JobState => ({
      node,
      guard,
      ...timing,
      schedule,
      running: underWay.size,
      held: held.count(),
      scheduled,
    }),
    /** Changes the protection of later runs. Omitted timings are those that the node was started with. */
    setGuard({ lock: name, ...given }: GuardTiming & { lock: string }) {
      servers.mustServe(name);
      const changed = { ...atStart, ...given };
      if (changed.minHoldMs >= changed.leaseMs)
        throw new ProblemError('BAD_REQUEST', 'The minimum hold must be shorter than the lease.');
      guard = name;
      timing = changed;
    },
    /** Sets the schedule, and clears the times of earlier runs. */
    setSchedule(given: JobSchedule) {
      timer.stop();
      schedule = given;
      scheduled = [];
      timer = startSchedule(schedule, scheduledTick);
    },
    scriptNextTick({ after, orders = 1 }: TickScript) {
      nextScript = { after, orders };
    },
    /** For a stopping node: no run starts any more, and a current run ends after its current order. */
    end() {
      timer.stop();
      stopping.abort();
      held.end();
    },
    ended: () => Promise.all(underWay),
  };
}

const readOrders = (mysql: Pool, which: string, values: unknown[]): Promise<DueOrder[]> =>
  withoutTransaction(mysql, (ask) =>
    ask<(RowDataPacket & DueOrder)[]>(
      `SELECT id, sku, quantity, lock_name AS \`lock\` FROM tb_order WHERE ${isTried} AND ${which} LIMIT ?`,
      values,
    ),
  );

const readDue = (mysql: Pool) =>
  readOrders(mysql, "status = 'UNPAID' AND due_at <= UTC_TIMESTAMP(3) ORDER BY due_at, id", [MAX_ORDERS]);

/** Resolves with the closed orders whose units are not recorded as returned to Redis; of one sku if it is given. */
const readUnrestored = (mysql: Pool, most = MAX_ORDERS, sku: string | null = null) =>
  readOrders(
    mysql,
    `status = 'CLOSED' AND restored_at IS NULL AND changed_at > UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND
      AND lock_name NOT IN (?) AND sku = COALESCE(?, sku) ORDER BY changed_at, id`,
    [RESTORABLE_MS * 1_000, locksWithStockInMysql(), sku, most],
  );

/** On purpose without a check of the status: only the protection ensures that no other run has changed it. */
async function close(mysql: Pool, { id }: DueOrder) {
  const sql = `UPDATE tb_order
    SET status = 'CLOSED', changed_at = UTC_TIMESTAMP(3), restored_at = UTC_TIMESTAMP(3) WHERE id = ?`;
  await withoutTransaction(mysql, (ask) => ask(sql, [id]));
}
