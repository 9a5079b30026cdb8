// What a node does with its stock under its current lock: it sells, returns units, and reads.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { ProblemError } from '../problem.ts';
import { asProblem, reasonOf } from '../servers/away-server.ts';
import type { NodeServers } from '../servers/servers.ts';
import type { Stock } from '../servers/store.ts';
import type { InventorySettings } from '../settings/settings.ts';
import type { LockTiming, NodeState } from './contract.ts';
import { type Client, createHolders, type Holder } from './holder.ts';
import type { SaleServiceParts } from './parts.ts';
import { askedOf, changed, presentAtStart } from './present.ts';
import { putBack, readShared, underLock } from './sale.ts';
import { createSaleRecords } from './sale-record.ts';
import { createReleases } from './sale-release.ts';
import { createSaleScripts } from './sale-script.ts';
import { createSell } from './sell.ts';
import type { Asked } from './sku.ts';

export type SaleService = ReturnType<typeof createSaleService>;

/** The sale service of a node, on which its other parts build. */
export interface NodeParts extends SaleServiceParts {
  settings: InventorySettings;
  servers: NodeServers;
  log: Logger;
  sales: SaleService;
  isStopping: () => boolean;
}

export function createSaleService(parts: SaleServiceParts) {
  const { registry, settings, node, store, twoStores, servers, history, metrics, log } = parts;
  const { strategyNamed, exclusiveLockOf, backendOf, stockOf, isInBuckets, isSemaphore } = registry;
  const { PORT: port } = settings;
  const atStart = presentAtStart(settings);
  let present = atStart;
  const scripts = createSaleScripts();
  const records = createSaleRecords(history, metrics, port, log);
  const releases = createReleases(parts);
  const holders = createHolders(parts, releases, () => present);
  let puttingBack = 0;
  connect();

  store.onAway(() => {
    // A lock in Redis rejects by itself; one that is elsewhere would have its waiters wait for a stock that is not there.
    if (backendOf(present.lock) === 'redis' || stockOf(present.lock) === 'mysql') return;
    holders.endWaits(
      new ProblemError('STORE_UNAVAILABLE', 'Redis became unavailable while the sale waited for its lock.'),
    );
  });

  /**
   * Resolves with the stock, read under the read lock if there is one; undefined if there is no such sku.
   * Rejects with ProblemError when the lock was not free in time, or was lost, or `client` hung up first.
   */
  function readStock(sku: string, client: Client): Promise<number | undefined> {
    const strategy = strategyNamed(present.lock);
    const createReadLock = 'createReadLock' in strategy ? strategy.createReadLock : undefined;
    if (createReadLock === undefined || present.scope === 'user') return stock().readStock(sku);
    const holder = new holders.Holder(`read:${randomUUID()}`, client);
    return holder.does(() => readShared(holder.under(createReadLock, sku)), reasonOf);
  }

  /**
   *
   * Returns units the way a sale takes them: under its lock, or in one step if a sale needs no lock. Rejects with ProblemError,
   * definite if the stock is unchanged.
   *
   */
  function giveBack(sku: string, units: number): Promise<void> {
    return givingBack(sku, async (holder, own) => {
      if (own) return putBack({ ...own, units });
      if (await holder.write(() => stock().addStock(sku, units))) return;
      throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
    });
  }

  /**
   *
   * Returns the units of orders to Redis, all under one lock. Resolves with the result of each, in order: true if returned now,
   * false if returned before, rejected if unknown. Rejects as `giveBack` does.
   *
   */
  function giveBackOrders(sku: string, orders: { id: string; quantity: number }[]) {
    return inOneStep(sku, (holder, token) =>
      Promise.allSettled(
        orders.map(({ id, quantity }) => holder.write(() => store.restoreOnce(sku, quantity, id, holder.lock, token))),
      ),
    );
  }

  /**
   *
   * Moves units from buckets that the current lock does not sell into the first one, which every lock sells: each sku under its
   * lock. Rejects with ProblemError, not definite, when some are left.
   *
   */
  async function gatherBuckets() {
    if (stockOf(present.lock) === 'mysql') return;
    const from = isInBuckets(present.lock) ? store.buckets : 1;
    const gather = (sku: string) =>
      inOneStep(sku, (holder, token) => holder.write(() => store.gatherBuckets(sku, from, holder.lock, token)));
    try {
      const ends = await Promise.allSettled((await store.skusInBuckets(from)).map(gather));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    } catch (cause) {
      const { code, message } = asProblem(cause);
      const detail = `Units may be left in buckets that ${present.lock} does not sell: ${message}`;
      throw new ProblemError(code, detail, { definite: false, cause });
    }
  }

  /** Changes the stock in one step that reads and writes, under the lock if there is one. */
  function inOneStep<T>(sku: string, step: (holder: Holder, token?: string) => Promise<T>) {
    return givingBack(sku, (holder, own) => {
      if (own === undefined) return step(holder);
      return underLock(own, async () => {
        own.lock.lost?.throwIfAborted();
        // No sale is between its read and its write now, which would undo it. If the lock is lost, its read has shown a newer
        // token.
        const done = await step(holder, own.lock.fencingToken);
        await own.lock.confirm?.();
        return done;
      });
    });
  }

  /** `own`: what the holder uses under a sale's lock, if it has one. A user's lock does not keep other sales out. */
  async function givingBack<T>(sku: string, way: (holder: Holder, own?: ReturnType<Holder['under']>) => Promise<T>) {
    const holder = new holders.Holder(`back:${randomUUID()}`);
    puttingBack += 1;
    const createLock = present.scope === 'sku' ? exclusiveLockOf(holder.lock) : undefined;
    return holder
      .does(() => way(holder, createLock && holder.under(createLock, sku)))
      .finally(() => {
        puttingBack -= 1;
      });
  }

  function stock(): Stock {
    if (twoStores) return twoStores;
    if (stockOf(present.lock) === 'mysql') return servers.stockInMysql();
    return store.inBuckets(isInBuckets(present.lock) ? store.buckets : 1);
  }

  /** Connects to what the current lock needs, so that the first sale does not have to wait. */
  function connect() {
    servers.forLock(present.lock, present.leaseMs);
  }

  function refuseWhileBusy() {
    const { inFlight } = records.read();
    const detail = `Sales in flight on ${node}: ${inFlight}. Try again when they have ended.`;
    if (inFlight > 0) throw new ProblemError('SALES_IN_FLIGHT', detail);
  }

  return {
    sell: createSell(parts, holders, records, scripts),
    /** What one sale asks of the current lock. Throws ProblemError BAD_REQUEST if the lock can't do it. */
    askedOf: (limits: Omit<Asked, 'user'>, user?: string) => askedOf(registry, present, limits, user),
    giveBack,
    giveBackOrders,
    readStock,
    stock,
    state: (): NodeState => ({
      node,
      port,
      pid: process.pid,
      instance: holders.instance,
      ...present,
      permits: isSemaphore(present.lock) ? settings.PERMITS : 1,
      held: scripts.held(),
      unreleased: releases.count(),
      ...records.read(),
    }),
    /**
     * Changes the lock of all later sales. Throws ProblemError SALES_IN_FLIGHT while sales or returns of units are in progress.
     */
    setLock(lock: string, timing: LockTiming = {}) {
      refuseWhileBusy();
      const detail = `${node} is returning units to the stock. Try again when it has finished.`;
      if (puttingBack > 0) throw new ProblemError('SALES_IN_FLIGHT', detail);
      servers.mustServe(lock);
      const next = changed(registry, atStart, lock, timing);
      present = next;
      connect();
    },
    gatherBuckets,
    /** How long later sales wait for their lock at most, in milliseconds. */
    waitTimeoutMs: () => present.waitTimeoutMs,
    scriptNextSales: scripts.set,
    resume: scripts.resume,
    /** For a stopping node: no sale follows a script or is held any more. */
    endScripts: scripts.end,
    /** Clears the counts, the history and the script. Throws ProblemError SALES_IN_FLIGHT. */
    reset() {
      refuseWhileBusy();
      records.clear();
      scripts.clear();
    },
    /** Resolves when no sale is in flight, and nobody else waits for a lock or holds one. */
    salesEnded: holders.ended,
    /** For a lock outside of sales: if a failure leaves it possibly held, this node releases and counts it. */
    followed: releases.followed,
    /** Resolves when this node no longer possibly holds any lock after a failure. */
    locksGivenUp: releases.ended,
  };
}
