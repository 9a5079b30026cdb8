import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { stockOf, strategies } from '../../../locks/index.ts';
import { LockNotHeldError } from '../../../locks/lock.ts';
import { asProblem } from '../away-server.ts';
import { ExternalLockFault } from '../describe.ts';
import { createHeld } from '../held.ts';
import type { GuardTiming, JobSchedule, JobState, TickResult, tickScriptSchema } from '../lab/contract.ts';
import { ProblemError } from '../problem.ts';
import type { SaleService } from '../sale-service.ts';
import type { NodeServers } from '../servers.ts';
import { type InventorySettings, lackingSetting } from '../settings.ts';
import { RESTORABLE_MS, type Store } from '../store.ts';
import { countFailure, isHopeless, isTried } from './dead-letters.ts';
import { guardNamed, jobLockKey } from './jobs/guards.ts';
import { type CleanUp, type DueOrder, type Job, MAX_ORDERS } from './jobs/job.ts';
import { startSchedule } from './schedules/index.ts';
import type { ScheduledTick } from './schedules/schedule.ts';
import { schedulesOf } from './settings.ts';
import { CommitUnansweredError, inTransaction, withoutTransaction } from './transaction.ts';

/** How many orders of one sku are restored under one lock at most: sales wait meanwhile. */
const MOST_AT_ONCE = 100;
/** How many ticks of the schedule a node remembers. */
const MOST_SCHEDULED = 100;

type TickScript = z.output<typeof tickScriptSchema>;

export interface CleanUpParts {
  settings: InventorySettings;
  node: string;
  /** Where the orders are. */
  mysql: Pool;
  store: Store;
  servers: NodeServers;
  sales: SaleService;
  /** How a tick is carried out instead, in a lab: whichever guard is named. */
  carryOut?: CleanUp | undefined;
  log: Logger;
  /** Told how each tick has ended. */
  ended: (result: TickResult) => void;
}

export type CleanUpJob = ReturnType<typeof createCleanUp>;

/** Closes the orders that are due and puts their units back, whenever its schedule says so, under the guard of JOB_LOCK. */
export function createCleanUp({ settings, node, mysql, store, servers, sales, carryOut, log, ended }: CleanUpParts) {
  const instance = randomUUID();
  const stockIn = (place: 'redis' | 'mysql') => (place === 'mysql' ? servers.stockInMysql() : store);
  const stopping = new AbortController();
  const underWay = new Set<Promise<TickResult>>();
  let schedule: JobSchedule = schedulesOf(settings)[0]?.[1] ?? {};
  let scheduled: ScheduledTick[] = [];
  let running = startSchedule(schedule, scheduledTick);
  let guard = settings.JOB_LOCK;
  let timing = { leaseMs: settings.JOB_LEASE_MS, minHoldMs: settings.JOB_MIN_HOLD_MS };
  const held = createHeld();
  let nextScript: TickScript | undefined;
  let ticks = 0;
  let last: TickResult | undefined;

  async function scheduledTick(its: ScheduledTick) {
    scheduled = [...scheduled.slice(1 - MOST_SCHEDULED), its];
    // Two at once on one node are what a guard must bear. Under `conditional` they do no harm, and no good either.
    if (guard === 'conditional' && underWay.size > 0) return;
    // The log names the node by itself.
    const { node: _node, ...result } = await tick();
    const level = result.outcome === 'failed' ? 'warn' : result.closed + result.restored > 0 ? 'info' : 'debug';
    log[level](result, 'clean-up');
  }

  /** Runs one tick, now. Never rejects. */
  async function tick(): Promise<TickResult> {
    const running = runTick();
    underWay.add(running);
    try {
      last = await running;
      ended(last);
      return last;
    } finally {
      underWay.delete(running);
      if (underWay.size === 0) servers.endOtherJobs(timing.leaseMs);
    }
  }

  async function runTick(): Promise<TickResult> {
    const startedAt = performance.now();
    const result: TickResult = { outcome: 'ran', node, guard, due: 0, closed: 0, restored: 0, ms: 0 };
    const script = nextScript;
    const leftOut = new Map<string, unknown>();
    nextScript = undefined;
    try {
      await store.mustCarry(guard);
      result.outcome = await (carryOut ?? guardNamed(guard))(openJob(result, script, leftOut));
      const [why] = leftOut.values();
      if (leftOut.size > 0) throw why;
    } catch (error) {
      const { code, message, cause } = whyFailed(error);
      if (code === 'INTERNAL_ERROR') log.error({ err: cause }, 'a bug');
      Object.assign(result, { outcome: 'failed', code, detail: message });
    }
    result.ms = Math.round(performance.now() - startedAt);
    return result;
  }

  /** What one tick works with: it counts in `result`, is held where the script says, and notes which skus it has left out. */
  function openJob(result: TickResult, script: TickScript | undefined, leftOut: Map<string, unknown>): Job {
    const name = guard;
    const { leaseMs, minHoldMs } = timing;
    let restoredOrders = 0;

    async function holdAfter(step: TickScript['after'], orders: number) {
      if (step === script?.after && orders === script.orders) await held.untilResumed();
    }

    /** Orders of one sku that can't be done must not keep the tick from the others. Resolves with undefined when they are left out. */
    async function orLeaveOut<T>(sku: string, orders: DueOrder[], work: () => Promise<T>): Promise<T | undefined> {
      unlessStopping();
      if (leftOut.has(sku)) return undefined;
      try {
        return await work();
      } catch (error) {
        // Every order would meet the same.
        if (whyFailed(error).code === 'STORE_UNAVAILABLE') throw error;
        leftOut.set(sku, error);
        await noteFailure(orders, error);
        return undefined;
      }
    }

    /** Rejects as `done` does, when that is noted. */
    async function orNote(order: DueOrder, done: Promise<void>) {
      await done.catch(async (error) => {
        await noteFailure([order], error);
        throw error;
      });
    }

    async function restoredNow(units: number) {
      result.restored += units;
      restoredOrders += 1;
      await holdAfter('restored', restoredOrders);
    }

    async function closedNow() {
      result.closed += 1;
      await holdAfter('closed', result.closed);
    }

    async function restoreBatch(sku: string, orders: DueOrder[]) {
      // Another tick, or a new count of the stock, may have settled some since they were read.
      const open = await stillUnrestored(mysql, orders);
      if (open.length === 0) return;
      const ends = await sales.giveBackOrders(sku, open);
      const back = open.filter((_, at) => ends[at]?.status === 'fulfilled');
      for (const [at, { quantity }] of open.entries()) {
        const end = ends[at];
        if (end?.status === 'fulfilled' && end.value) await restoredNow(quantity);
      }
      await setRestored(mysql, back);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    }

    return {
      async readDue() {
        const due = await readOrders(mysql, dueNow);
        result.due = due.length;
        await holdAfter('read', script?.orders ?? 1);
        return due;
      },
      async restore(order) {
        unlessStopping();
        await orNote(order, restore(order));
        await restoredNow(order.quantity);
      },
      async close(order) {
        await orNote(order, close(mysql, order));
        await closedNow();
      },
      async closeIn(order, work) {
        const done = (await orLeaveOut(order.sku, [order], () => inTransaction(mysql, work))) ?? 'nothing';
        if (done === 'restored') await restoredNow(order.quantity);
        if (done !== 'nothing') await closedNow();
      },
      readUnrestored: () => readUnrestored(mysql),
      async restoreAll(orders) {
        const left = [...orders];
        for (let first = left[0]; first !== undefined; first = left[0]) {
          const { sku } = first;
          // A tick that is to be held after so many orders is held before it has restored more.
          const most = script?.after === 'restored' ? Math.max(1, script.orders - restoredOrders) : MOST_AT_ONCE;
          const batch = left.filter((order) => order.sku === sku).slice(0, most);
          for (const order of batch) left.splice(left.indexOf(order), 1);
          await orLeaveOut(sku, batch, () => restoreBatch(sku, batch));
        }
      },
      openLock() {
        const strategy = strategies[name];
        if (strategy === undefined || !('createLock' in strategy)) throw new Error(`There is no lock ${name}.`);
        ticks += 1;
        const options = {
          key: jobLockKey(name),
          ownerToken: `${instance}:${ticks}`,
          leaseMs,
          retryDelayMs: settings.RETRY_DELAY_MS,
          onLeaseLost: () => log.warn({ lock: name }, 'a tick lost its lock'),
        };
        // Not a spread: that would ask for every server at once.
        return strategy.createLock(Object.assign(servers.forJob(leaseMs), options));
      },
      minHold: () => sleep(minHoldMs, undefined, { signal: stopping.signal }).catch(() => {}),
    };
  }

  /** What can never work must have an end, with its reason. */
  async function noteFailure(orders: DueOrder[], error: unknown) {
    const why = whyFailed(error);
    if (!isHopeless(why)) return;
    const reason = String(why.cause instanceof Error ? why.cause.message : why.message);
    const ids = orders.map(({ id }) => id);
    for (const id of await countFailure(mysql, ids, reason))
      log.warn({ order: id, why: reason }, 'an order is put aside');
  }

  /** Gives the units back under the lock of the sales, if the sales of this node use that stock now. */
  async function restore({ sku, quantity, lock }: DueOrder) {
    const place = stockOf(lock);
    if (place !== stockOf(sales.state().lock)) return stockIn(place).restock(sku, quantity);
    try {
      await sales.giveBack(sku, quantity);
    } catch (error) {
      // The sku was deleted. Its units are counted all the same.
      if (!(error instanceof ProblemError) || error.code !== 'NOT_FOUND') throw error;
      await stockIn(place).restock(sku, quantity);
    }
  }

  function unlessStopping() {
    if (stopping.signal.aborted) throw new ProblemError('SHUTTING_DOWN', 'This node takes no new work.');
  }

  return {
    tick,
    /** Resumes the ticks that are held. */
    resume: held.resume,
    /** What the lab listener shows of the job. */
    state: (): JobState => ({
      node,
      guard,
      ...timing,
      schedule,
      nextTick: running.next(),
      running: underWay.size,
      held: held.count(),
      scheduled,
      last: last ?? null,
    }),
    /** Changes the guard of the ticks to come. What is left out of the timing is as the node was started. */
    setLock(name: string, { leaseMs, minHoldMs }: GuardTiming) {
      const lacking = lackingSetting(name, settings);
      if (lacking) {
        throw new ProblemError('BAD_REQUEST', `${name} needs ${lacking}, which ${node} was started without.`);
      }
      const changed = { leaseMs: leaseMs ?? settings.JOB_LEASE_MS, minHoldMs: minHoldMs ?? settings.JOB_MIN_HOLD_MS };
      if (changed.minHoldMs >= changed.leaseMs) {
        throw new ProblemError('BAD_REQUEST', 'The minimum hold must be less than the lease.');
      }
      guard = name;
      timing = changed;
    },
    /** From now on ticks come when this says so. Forgets when they have come before. */
    setSchedule(given: JobSchedule) {
      running.stop();
      schedule = given;
      scheduled = [];
      running = startSchedule(schedule, scheduledTick);
    },
    scriptNextTick(script: TickScript) {
      nextScript = script;
    },
    /** For a node that stops: no tick begins any more, and one that is under way ends with the order it is at. */
    end() {
      running.stop();
      stopping.abort();
      held.end();
    },
    /** Resolves when no tick is under way. Never rejects. */
    async ended() {
      await Promise.all(underWay);
    },
  };
}

async function readOrders(mysql: Pool, which: string, values: unknown[] = []): Promise<DueOrder[]> {
  const sql = `SELECT id, sku, quantity, lock_name AS \`lock\` FROM tb_order ${which} LIMIT ${MAX_ORDERS}`;
  return withoutTransaction(mysql, (ask) => ask<(RowDataPacket & DueOrder)[]>(sql, values));
}

const dueNow = `WHERE status = 'UNPAID' AND due_at <= UTC_TIMESTAMP(3) AND ${isTried} ORDER BY due_at, id`;

async function readUnrestored(mysql: Pool): Promise<DueOrder[]> {
  const closed = `WHERE status = 'CLOSED' AND restored_at IS NULL
    AND changed_at > UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND AND ${isTried} ORDER BY changed_at, id`;
  const orders = await readOrders(mysql, closed, [RESTORABLE_MS * 1_000]);
  return orders.filter(({ lock }) => stockOf(lock) === 'redis');
}

/** On purpose without a look at the status: only a guard says that nobody else has changed it. */
async function close(mysql: Pool, { id }: DueOrder) {
  const sql = `UPDATE tb_order
    SET status = 'CLOSED', changed_at = UTC_TIMESTAMP(3), restored_at = UTC_TIMESTAMP(3) WHERE id = ?`;
  await withoutTransaction(mysql, (ask) => ask(sql, [id]));
}

/** Resolves with those of the orders that nobody has written down as restored. */
async function stillUnrestored(mysql: Pool, orders: DueOrder[]): Promise<DueOrder[]> {
  const left = await readOrders(mysql, 'WHERE id IN (?) AND restored_at IS NULL', [orders.map(({ id }) => id)]);
  return orders.filter(({ id }) => left.some((one) => one.id === id));
}

async function setRestored(mysql: Pool, orders: DueOrder[]) {
  if (orders.length === 0) return;
  const sql = 'UPDATE tb_order SET restored_at = UTC_TIMESTAMP(3) WHERE id IN (?) AND restored_at IS NULL';
  await withoutTransaction(mysql, (ask) => ask(sql, [orders.map(({ id }) => id)]));
}

function whyFailed(error: unknown): ProblemError {
  // A wait that was ended says why in its cause.
  const reason = error instanceof Error && error.name === 'AbortError' ? error.cause : error;
  if (reason instanceof LockNotHeldError) return new ProblemError('LOCK_NOT_HELD', reason.message);
  if (reason instanceof ExternalLockFault) return new ProblemError('LOCK_FAILED', `${reason.message}.`);
  if (reason instanceof CommitUnansweredError) return new ProblemError('STORE_UNAVAILABLE', reason.message);
  return asProblem(reason);
}
