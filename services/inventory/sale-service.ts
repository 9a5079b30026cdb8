// Sells one unit after the other, each under a new lock of its own: the sale as a use case.

import { randomUUID } from 'node:crypto';
import {
  type Bucket,
  type CreateLock,
  type CreateMultiLock,
  type FencedStock,
  type Lock,
  LockNotHeldError,
  type MultiLock,
} from '../../locks/lock.ts';
import type { Registry } from '../../locks/strategy.ts';
import { type BasketItem, sellAll } from './basket.ts';
import type { History } from './history.ts';
import type { LockTiming, NodeState } from './lab/contract.ts';
import { ProblemError } from './problem.ts';
import { putBack, readShared, restoreAlone, type SaleParts, type SaleStep, sellAtomically, sellOne } from './sale.ts';
import { explain, explainReading, hasTakenNothing, outcomeOf, type Progress } from './sale-ending.ts';
import { createSaleRecords, type SaleMetrics } from './sale-record.ts';
import { createReleases, type ReleasesParts } from './sale-release.ts';
import { createSaleScripts } from './sale-script.ts';
import { type Client, createSaleWaits } from './sale-wait.ts';
import type { NodeServers } from './servers.ts';
import type { InventorySettings } from './settings.ts';
import { lockKey, nameInBucket, type Stock, type Store, stockKey, wasNeverSent, wasNotDone } from './store.ts';

/** The answer to a sale that took place. */
export interface Sold {
  outcome: 'sold';
  sku: string;
  stockBefore: number;
  remaining: number;
  /** Only where the stock lies in several buckets: which of them, from 0. `stockBefore` and `remaining` are of this one. */
  bucket?: number;
  saleId: string;
  node: string;
  /** Where that node listens. */
  port: number;
  lock: string;
  holder: string;
  /** Only when sales write orders. */
  orderId?: string;
}

/** The answer to the sale of a basket that took place. */
export interface BasketSold extends Pick<Sold, 'outcome' | 'saleId' | 'node' | 'port' | 'lock' | 'holder'> {
  skus: BasketItem[];
}

/** What is known of a sale before it has taken anything. */
export type SaleFacts = Pick<Sold, 'sku' | 'saleId' | 'node' | 'lock' | 'holder'>;

/** What is done around a sale besides: orders do. */
export interface SaleHooks {
  /** Before anything is taken. Rejects with AbortError when `signal` aborts first. */
  before(signal: AbortSignal): Promise<void>;
  /** When the unit is taken and the lock given up. May add to the answer. Rejects when the sale has not taken place, or may not have. */
  after(sold: Sold): Promise<void>;
  /** When nothing was taken after all, because of `why`. Never rejects. */
  nothingTaken(why: Error): Promise<void>;
}

export interface SaleServiceParts {
  /** The strategies that it may sell by. */
  registry: Registry;
  settings: Pick<InventorySettings, 'PORT' | 'LOCK_VERSION' | 'LEASE_MS' | 'RETRY_DELAY_MS' | 'WAIT_TIMEOUT_MS'>;
  /** The setting that a lock needs and that this node was started without. Undefined when there is none. */
  lackingSetting: (lock: string) => string | undefined;
  node: string;
  store: Store;
  servers: Pick<NodeServers, 'connectFor' | 'forLease' | 'stockInMysql'>;
  history: History;
  metrics: SaleMetrics & { releaseRetries: ReleasesParts['retries'] };
  log: ReleasesParts['log'];
}

export type SaleService = ReturnType<typeof createSaleService>;

/** Makes a new lock for every sale, and knows how each ended. */
export function createSaleService({
  registry,
  settings,
  lackingSetting,
  node,
  store,
  servers,
  history,
  metrics,
  log,
}: SaleServiceParts) {
  const { strategyNamed, backendOf, stockOf, isInBuckets, multiLockOf } = registry;
  const instance = randomUUID();
  const scripts = createSaleScripts();
  const waits = createSaleWaits();
  const records = createSaleRecords({ history, metrics });
  const timingAtStart = {
    leaseMs: settings.LEASE_MS,
    retryDelayMs: settings.RETRY_DELAY_MS,
    waitTimeoutMs: settings.WAIT_TIMEOUT_MS,
  };
  const { PORT: port } = settings;
  let lockName = settings.LOCK_VERSION;
  let timing = timingAtStart;
  let givingBack = 0;
  const releases = createReleases({ store, leaseMs: () => timing.leaseMs, retries: metrics.releaseRetries, log });
  const readings = new Set<Promise<unknown>>();
  servers.connectFor(lockName);

  store.onAway(() => {
    // A lock in Redis rejects by itself; one that is elsewhere would have its waiters wait for a stock that is not there.
    if (backendOf(lockName) === 'redis' || stockOf(lockName) === 'mysql') return;
    waits.endAll(new ProblemError('STORE_UNAVAILABLE', 'Redis went away while the sale waited for its lock.'));
  });

  /**
   * Sells one unit of `sku`. Rejects with ProblemError when the sale did not take place, or may not have, and with
   * ClientGoneError when `client` hung up while the sale waited for its lock.
   */
  async function sell(sku: string, client: Client, openHooks?: (sale: SaleFacts) => SaleHooks): Promise<Sold> {
    const lock = lockName;
    const wait = waits.start(timing.waitTimeoutMs, client);
    let held: Lock | undefined;
    const record = records.open(lock, wait, client.locals?.requestId, () => held?.fencingToken);
    const { saleId, progress, emit } = record;
    const holder = `${instance}:${saleId}`;
    const hooks = openHooks?.({ sku, saleId, node, lock, holder });
    const script = scripts.forSale(callNested);
    let bucket: number | undefined;

    try {
      if (hooks) {
        await hooks.before(wait.signal);
        record.startWait();
      }
      await store.mustCarry(lock);
      const taken = await carryOut();
      const sold: Sold = { outcome: 'sold', sku, ...taken, ...ofBucket(), saleId, node, port, lock, holder };
      if (hooks) {
        await script.beforeOrder();
        await hooks.after(sold);
      }
      await script.beforeAnswer();
      record.close('sold');
      return sold;
    } catch (error) {
      if (error instanceof LockNotHeldError) record.loseLease();
      releases.giveUpUnanswered(held, error, progress);
      const ending = explain(error, progress);
      if (hasTakenNothing(ending)) await hooks?.nothingTaken(ending);
      record.close(outcomeOf(ending), ending);
      throw ending;
    } finally {
      wait.end();
    }

    function carryOut() {
      const strategy = strategyNamed(lock);
      const { signal } = wait;
      const business = script.inside;
      if ('takeOne' in strategy) {
        const options = Object.assign(servers.forLease(timing.leaseMs), {
          sku,
          stockKey: stockKey(sku),
          stock: fencedStock(lock, sku),
          openLock: openOwn,
          buckets: openBuckets(),
          readBuckets: () => store.readBuckets(sku),
          signal,
          business,
          emit,
        });
        const sold = sellAtomically(strategy.takeOne, options, emit);
        // A bucket's stock notes for itself what was refused: the lock that is given up afterwards may fail, too.
        return isInBuckets(lock) ? sold : noteRefusal(sold, progress);
      }
      return sellOne({
        sku,
        lock: openOwn(strategy.createLock),
        store: openStock(lock, progress),
        wait: signal,
        business,
        emit,
      });
    }

    function openOwn(createLock: CreateLock, inBucket = 0) {
      held = openLock(createLock, sku, holder, record.loseLease, inBucket);
      return held;
    }

    /** The places that the stock lies in, where there are several. */
    function openBuckets(): Bucket[] {
      const count = isInBuckets(lock) ? store.buckets : 0;
      return Array.from({ length: count }, (_, number) => ({
        stock: noting(fencedStock(lock, sku, number), progress),
        openLock: (createLock) => openOwn(createLock, number),
        emit(step, units) {
          bucket = number;
          emit(step, units, number);
        },
      }));
    }

    function ofBucket() {
      return bucket === undefined ? {} : { bucket };
    }

    /** Asks for the lock again that this sale has, then gives it up again. Another object has the same owner token. */
    async function callNested(by: 'the same object' | 'another object') {
      const strategy = strategyNamed(lock);
      if (held === undefined || 'takeOne' in strategy) return;
      record.nested();
      const again = by === 'another object' ? openLock(strategy.createLock, sku, holder, record.loseLease) : held;
      const nestedWait = waits.start(timing.waitTimeoutMs, client);
      await again.acquire(nestedWait.signal).finally(nestedWait.end);
      await again.release();
    }
  }

  /** Sells one unit of each of these skus, or of none. Rejects as `sell` does, and under a lock that sells one sku at a time. */
  async function sellBasket(skus: string[], client: Client): Promise<BasketSold> {
    const lock = lockName;
    const createMultiLock = mustSellBaskets(lock);
    const wait = waits.start(timing.waitTimeoutMs, client);
    const record = records.open(lock, wait, client.locals?.requestId);
    const { saleId, progress, emit } = record;
    const holder = `${instance}:${saleId}`;
    const script = scripts.forSale(async () => {});
    let held: MultiLock | undefined;

    try {
      await store.mustCarry(lock);
      held = openLocks(createMultiLock, skus, holder, record.loseLease);
      const { fencingTokenOf } = held;
      const items = await sellAll({
        skus,
        lock: held,
        tokenOf: (sku) => fencingTokenOf(lockKey(sku, lock)),
        store: openStock(lock, progress),
        wait: wait.signal,
        business: script.inside,
        emit,
        progress,
      });
      await script.beforeAnswer();
      record.close('sold');
      return { outcome: 'sold', skus: items, saleId, node, port, lock, holder };
    } catch (error) {
      if (error instanceof LockNotHeldError) record.loseLease();
      releases.giveUpAllUnanswered(held, error, progress);
      const ending = explain(error, progress);
      record.close(outcomeOf(ending), ending);
      throw ending;
    } finally {
      wait.end();
    }
  }

  /**
   * Resolves with the stock of `sku`, undefined when there is none: read under the read lock, where the lock has one. Rejects with
   * ProblemError when the lock was not free in time, or was lost, and with ClientGoneError when `client` hung up first.
   */
  function readStock(sku: string, client: Client): Promise<number | undefined> {
    const strategy = strategyNamed(lockName);
    const createReadLock = 'createReadLock' in strategy ? strategy.createReadLock : undefined;
    if (createReadLock === undefined) return stock().readStock(sku);
    const reading = readUnder(createReadLock, sku, client).finally(() => readings.delete(reading));
    readings.add(reading);
    return reading;
  }

  async function readUnder(createReadLock: CreateLock, sku: string, client: Client) {
    const progress: Progress = { reached: new Map() };
    const emit = (step: SaleStep) => void progress.reached.set(step, undefined);
    const lock = openLock(createReadLock, sku, `${instance}:read:${randomUUID()}`, () => {});
    const wait = waits.start(timing.waitTimeoutMs, client);
    try {
      return await readShared({ sku, lock, store: openStock(lockName, progress), wait: wait.signal, emit });
    } catch (error) {
      releases.giveUpUnanswered(lock, error, progress);
      throw explainReading(error);
    } finally {
      wait.end();
    }
  }

  /**
   * Puts units back into the stock as a sale takes them out: under its lock, or in one step where a sale needs none. Rejects
   * with ProblemError, definite when the stock is as it was.
   */
  function giveBack(sku: string, units: number): Promise<void> {
    return puttingBack(sku, {
      async alone(emit) {
        emit('writing');
        if (await stock().addStock(sku, units)) return;
        throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
      },
      underLock: (parts) => putBack({ sku, units, ...parts }),
    });
  }

  /**
   * Puts the units of orders back into the stock in Redis, all under one lock, each unless that was done before. Resolves with how that
   * ended for each, in their order: whether its units were put there now, or why nobody knows. Rejects as `giveBack` does.
   */
  function giveBackOrders(sku: string, orders: { id: string; quantity: number }[]) {
    return puttingBack(sku, {
      alone: () => Promise.allSettled(orders.map(({ id, quantity }) => store.restoreOnce(sku, quantity, id))),
      underLock: ({ store: itsStock, ...parts }) =>
        restoreAlone({
          ...parts,
          restore: (token) =>
            Promise.allSettled(orders.map(({ id, quantity }) => itsStock.restoreOnce(sku, quantity, id, token))),
        }),
    });
  }

  async function puttingBack<T>(sku: string, { alone, underLock }: WaysBack<T>): Promise<T> {
    const strategy = strategyNamed(lockName);
    const progress: Progress = { reached: new Map() };
    const { reached } = progress;
    const emit = (step: SaleStep) => void reached.set(step, undefined);
    const wait = waits.start(timing.waitTimeoutMs);
    givingBack += 1;
    let held: Lock | undefined;
    try {
      await store.mustCarry(lockName);
      if (!('createLock' in strategy)) return await alone(emit);
      held = openLock(strategy.createLock, sku, `${instance}:back:${randomUUID()}`, () => {});
      return await underLock({ lock: held, store: openStock(lockName, progress), wait: wait.signal, emit });
    } catch (error) {
      // What there is no sku for was not written.
      if (wasNeverSent(error) || (error instanceof ProblemError && error.code === 'NOT_FOUND'))
        reached.delete('writing');
      releases.giveUpUnanswered(held, error, progress);
      throw explain(error, progress);
    } finally {
      givingBack -= 1;
      wait.end();
    }
  }

  function mustSellBaskets(lock: string): CreateMultiLock {
    const createMultiLock = multiLockOf(lock);
    if (createMultiLock !== undefined) return createMultiLock;
    const able = registry.multiLocks().join(', ');
    throw new ProblemError('BAD_REQUEST', `${lock} sells one sku at a time. Several are sold under: ${able}.`);
  }

  /** The stock of one holder. A write that never left this process, or was refused, certainly did not take place. */
  function openStock(lock: string, progress: Progress): HoldersStock {
    const fenceOf = fenceFor(lock);
    return {
      readStock: (sku: string, token?: string) => noteRefusal(store.readStock(sku, fenceOf(token)), progress),
      writeStock: (sku: string, stock: number, token?: string) =>
        noteRefusal(store.writeStock(sku, stock, fenceOf(token)), progress),
      restoreOnce: (sku: string, units: number, orderId: string, token?: string) =>
        noteRefusal(store.restoreOnce(sku, units, orderId, fenceOf(token)), progress),
    };
  }

  /** The stock as a strategy sees it that has a lock of its own. */
  function fencedStock(lock: string, sku: string, bucket = 0): FencedStock {
    const fenceOf = fenceFor(lock, bucket);
    return {
      read: (token) => store.readStock(sku, fenceOf(token)),
      write: (units, token) => store.writeStock(sku, units, fenceOf(token)),
    };
  }

  function openLock(
    createLock: CreateLock,
    sku: string,
    ownerToken: string,
    onLeaseLost: () => void,
    bucket = 0,
  ): Lock {
    const { leaseMs, retryDelayMs } = timing;
    const key = lockKey(sku, nameInBucket(lockName, bucket));
    const options = { key, ownerToken, leaseMs, retryDelayMs, onLeaseLost };
    // Not a spread, which leaves out the servers that are not connected yet.
    return createLock(Object.assign(servers.forLease(leaseMs), options));
  }

  function openLocks(create: CreateMultiLock, skus: string[], ownerToken: string, onLeaseLost: () => void): MultiLock {
    const { leaseMs, retryDelayMs } = timing;
    const options = { ownerToken, leaseMs, retryDelayMs, onLeaseLost };
    const keys = skus.map((sku) => lockKey(sku, lockName));
    return create(Object.assign(servers.forLease(leaseMs), options), keys);
  }

  return {
    sell,
    sellBasket,
    giveBack,
    giveBackOrders,
    readStock,
    stock,
    /** The lock of the sales to come. */
    lock: () => lockName,
    state(): NodeState {
      const { inFlight, waiting, counts } = records.read();
      const { pid } = process;
      const unreleased = releases.count();
      const held = scripts.held();
      return { node, port, pid, instance, lock: lockName, ...timing, inFlight, held, waiting, unreleased, counts };
    },
    /** Changes the lock of all sales to come. Throws ProblemError SALES_IN_FLIGHT while there are any, or units on their way back. */
    setLock(name: string, changed: LockTiming = {}) {
      refuseWhileBusy();
      if (givingBack > 0) {
        const detail = `Units are being put back into the stock on ${node}. Try again when they are.`;
        throw new ProblemError('SALES_IN_FLIGHT', detail);
      }
      const lacking = lackingSetting(name);
      if (lacking)
        throw new ProblemError('BAD_REQUEST', `${name} needs ${lacking}, which ${node} was started without.`);
      servers.connectFor(name);
      lockName = name;
      timing = { ...timingAtStart, ...changed };
    },
    scriptNextSales: scripts.set,
    /** Resumes the sales that are held. */
    resume: scripts.resume,
    /** For a node that stops: no sale follows a script any more, or is held. */
    endScripts: scripts.end,
    /** Forgets the counts, the history and the scripted sale. Throws ProblemError SALES_IN_FLIGHT. */
    reset() {
      refuseWhileBusy();
      records.clear();
      scripts.clear();
    },
    /** Resolves when no sale is in flight, and nobody reads the stock under a lock. */
    async salesEnded() {
      await records.idle();
      await Promise.allSettled(readings);
    },
    /** Resolves when no lock is left that Redis has not answered about. */
    locksGivenUp: releases.ended,
  };

  /** Where the present lock's sales take their units from. */
  function stock(): Stock {
    if (stockOf(lockName) === 'mysql') return servers.stockInMysql();
    return store.inBuckets(isInBuckets(lockName) ? store.buckets : 1);
  }

  function refuseWhileBusy() {
    const { inFlight } = records.read();
    if (inFlight === 0) return;
    throw new ProblemError(
      'SALES_IN_FLIGHT',
      `Sales in flight on ${node}: ${inFlight}. Try again when they have ended.`,
    );
  }
}

/** The stock as one holder sees it, which shows its token, if it has one. */
interface HoldersStock {
  readStock(sku: string, token?: string): ReturnType<Stock['readStock']>;
  writeStock(sku: string, stock: number, token?: string): Promise<void>;
  restoreOnce(sku: string, units: number, orderId: string, token?: string): Promise<boolean>;
}

/** The stock of one holder alone: what it refuses is known of the sale, also when its lock is given up in vain afterwards. */
function noting({ read, write }: FencedStock, progress: Progress): FencedStock {
  return {
    read: (token) => noteRefusal(read(token), progress),
    write: (units, token) => noteRefusal(write(units, token), progress),
  };
}

async function noteRefusal<T>(asked: Promise<T>, progress: Progress): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProblemError) progress.refusal = error;
    const isWritten = progress.reached.has('wrote');
    if (progress.refusal || (!isWritten && wasNotDone(error))) progress.reached.delete('writing');
    throw error;
  }
}

/** How units are put back: in one step where a sale needs no lock, else under its lock. */
interface WaysBack<T> {
  alone(emit: (step: SaleStep) => void): Promise<T>;
  underLock(parts: Pick<SaleParts, 'lock' | 'wait' | 'emit'> & { store: HoldersStock }): Promise<T>;
}

/** What shows the stock who writes; nothing when the lock has no tokens. */
function fenceFor(lock: string, bucket = 0) {
  return (token: string | undefined) => (token === undefined ? undefined : { lock, token, bucket });
}
