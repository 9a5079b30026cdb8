// Shared by the order drills: prepares two nodes with their MySQL and Redis, and restores them.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createConnection, createPool, type RowDataPacket } from 'mysql2/promise';
import { paymentsKey, refusedKey } from '../../services/inventory/orders/payments/stream.ts';
import { mysqlAddress } from '../../services/inventory/servers/mysql.ts';
import { stockKey } from '../../services/inventory/servers/store.ts';
import { doneStates } from '../../stack/mysql.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { poll } from '../harness/clock.ts';
import type { DrillContext, Emitted } from '../harness/drill.ts';
import { createFaults } from '../harness/faults/faults.ts';
import { doEach } from '../harness/faults/ground.ts';
import type { TargetNode } from '../harness/target.ts';
import type { StepSentence } from '../narration/steps.ts';
import { rowOf } from '../staircase/lookup.ts';
import { shortNameOf } from '../staircase/staircase.ts';

/** How long a step may take when nothing delays it, in milliseconds. */
export const STEP_LIMIT_MS = 10_000;
/** The sku that is sold, and its stock. */
export const SKU = 'drill-click';
export const STOCK = 100;
/** How long requests of a drill may take to end after it, in milliseconds. */
const SETTLE_LIMIT_MS = 60_000;

/** Where the nodes keep what the orders of a drill come to. */
const orderTables = ['tb_order', 'tb_intent', 'tb_payment', 'tb_refund', 'tb_request', 'tb_supply', 'tb_dead_letter'];

interface ShopOptions extends Pick<DrillContext, 'target' | 'stage' | 'narrate' | 'signal'> {
  /** The lease of the lock that is judged, in milliseconds. */
  leaseMs: number;
}

export interface OrderRow {
  id: string;
  node: string;
  sale_id: string;
  amount: number;
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** Two nodes, the MySQL of their orders and the Redis of their stock, for a drill that goes step by step. No order is left of before. */
export async function openShop({ target, stage, leaseMs, narrate, signal }: ShopOptions) {
  const hasOrders = rowOf(stage)?.stack?.options.env?.['ORDERS'] !== 'off';
  const tables = hasOrders ? orderTables : [];
  const { url: nginxUrl, nodes, stack, mysqlUrl, clock, network } = target;
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('A drill needs two nodes.');
  if (stack === undefined || mysqlUrl === undefined) throw new Error('An order drill needs its own stack.');
  const faults = createFaults(target, { backend: 'redis', stage: '' });
  const mysql = createPool({ ...mysqlAddress(mysqlUrl), timezone: 'Z' });
  const redis = network.connectRedis(stack.redis.url, {});
  redis.on('error', () => {});
  const startedAt = clock.now();
  /** How late what is due in this process comes. */
  const eventLoop = monitorEventLoopDelay({ resolution: 10 });
  eventLoop.enable();
  const stopping = new AbortController();
  const emitted: Emitted[] = [];
  /** What takes along that which the drill has made. */
  const forgetting: (() => unknown)[] = [];
  let letGoOfOrders = () => {};

  async function query<Row>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const [rows] = await mysql.query<RowDataPacket[]>(sql, values);
    return rows as Row[];
  }

  /**
   * How many statements wait for a row, of those that are `like` that. One that is answered may be listed a moment longer, in another
   * state.
   */
  async function waitingStatements(like: string): Promise<number> {
    const sql = `SELECT COUNT(*) AS waiting FROM information_schema.processlist
      WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE ? AND state NOT IN (?)`;
    return Number((await query<{ waiting: number }>(sql, [like, doneStates]))[0]?.waiting);
  }

  /** From here on nobody else can change an order; nor record a refund, when `withRefunds`. */
  async function holdOrders(withRefunds = false) {
    const holder = await createConnection(mysqlUrl ?? '');
    letGoOfOrders = () => holder.destroy();
    faults.undoLater(letGoOfOrders);
    await holder.query('START TRANSACTION');
    await holder.query('SELECT id FROM tb_order FOR UPDATE');
    // Where no row is, it holds the gap: an INSERT waits.
    if (withRefunds) await holder.query('SELECT order_id FROM tb_refund FOR UPDATE');
  }

  async function forgetOrders() {
    for (const table of tables) await query(`DELETE FROM ${table}`);
  }

  /** A step that comes after the end of the drill is stopped here: another drill may have the stack by then. */
  function mustBeOpen() {
    signal.throwIfAborted();
    if (stopping.signal.aborted) throw new Error('The drill is over.');
  }

  /** Resolves with what `find` finds, or with undefined when it finds nothing in time. */
  const look = <T>(find: () => Promise<T | undefined | false>, limitMs: number) =>
    poll(clock, limitMs, async () => {
      mustBeOpen();
      return (await find()) || undefined;
    });

  /** Resolves with what `find` finds. Throws NotStagedError, with the sentence, when it finds nothing in time. */
  async function until<T>(otherwise: string, find: () => Promise<T | undefined | false>): Promise<T> {
    const found = await look(find, STEP_LIMIT_MS);
    if (found === undefined) throw new NotStagedError(otherwise);
    return found;
  }

  const isIdle = async (node: TargetNode) => {
    const { inFlight, unreleased, answering } = await node.state();
    const running = hasOrders ? (await node.ticks()).running : 0;
    return inFlight + unreleased + running + answering === 0;
  };

  async function disconnect() {
    eventLoop.disable();
    faults.close();
    redis.disconnect();
    await mysql.end();
  }

  /** The lock of the sales says where the stock is. */
  let lock: string;
  try {
    const haveTables = () =>
      forgetOrders().then(
        () => true,
        () => false,
      );
    await until('The nodes did not create the tables for their orders.', haveTables);
    await first.setStock(STOCK, SKU);
    ({ lock } = await first.state());
  } catch (error) {
    await disconnect();
    throw error;
  }

  return {
    clock,
    /** What the row of the staircase is about: a guard, a schedule, a strategy. */
    row: shortNameOf(stage),
    leaseMs,
    lock,
    first,
    second,
    nodes,
    redis,
    query,
    /** The orders of what is sold that MySQL has, the oldest first. */
    orders: () =>
      query<OrderRow>('SELECT id, node, sale_id, amount FROM tb_order WHERE sku = ? ORDER BY created_at, id', [SKU]),
    stock: async () => Number(await redis.get(stockKey(SKU))),
    nginxUrl,
    look,
    until,
    waitingStatements,
    holdOrders,
    letGoOfOrders: () => letGoOfOrders(),
    /** Undoes it when the drill is over, before what is under way has to end. */
    undoLater: faults.undoLater,
    /** Does it when the drill is over, and nothing is under way any more. */
    forget(act: () => unknown) {
      forgetting.push(act);
    },
    mustBeOpen,
    /** Aborts when the drill ends. */
    stopping: stopping.signal,
    async say(sentence: StepSentence, isStep = false, line?: string) {
      mustBeOpen();
      const ms = clock.now() - startedAt;
      emitted.push({ ms, sentence });
      await narrate(sentence, ms, isStep, line);
    },
    async outcome() {},
    /** Resolves after so many milliseconds, or rejects when the drill ends. */
    rest: (ms: number) => clock.sleep(ms, undefined, { signal: stopping.signal }),
    /** Kills a node as a crash would. Throws NotStagedError when it lives on. */
    async kill(node: TargetNode) {
      mustBeOpen();
      await faults.kill(node);
    },
    /** Ends the drill where it stands: from here on each of its steps is refused. */
    stop() {
      stopping.abort();
    },
    /** Brings the stack back to what it was: every process runs, nothing is under way, no order is left. */
    async close() {
      stopping.abort();
      try {
        await faults.undoAll();
        // A sale or a tick that is held only now is resumed, too.
        const areIdle = async () => {
          for (const node of nodes) await node.resume();
          return (await Promise.all(nodes.map(isIdle))).every(Boolean) || undefined;
        };
        if (!(await poll(clock, SETTLE_LIMIT_MS, areIdle)))
          throw new Error('Requests of the drill were still in progress after it.');
        await doEach([
          ...nodes.map((node) => () => node.reset()),
          () => first.clear(SKU),
          () => redis.del(paymentsKey, refusedKey),
          ...forgetting.toReversed(),
          forgetOrders,
        ]);
      } finally {
        await disconnect();
      }
      return { events: [], told: emitted, standstillMs: eventLoop.max / 1e6 };
    },
  };
}
