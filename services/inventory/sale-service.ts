import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ZookeeperUnavailableError } from '../../locks/drivers/zookeeper-session.ts';
import { backendOf, stockOf, strategies } from '../../locks/index.ts';
import { type CreateLock, type Lock, LockNotHeldError, TooManyConflictsError } from '../../locks/lock.ts';
import { ExternalLockFault } from './external-lock.ts';
import type { History } from './history.ts';
import type { Metrics } from './metrics.ts';
import { isMysqlUnavailable } from './mysql.ts';
import type { Keep } from './orders/idempotency/once.ts';
import { openSaleOrder } from './orders/sale-order.ts';
import { ProblemError } from './problem.ts';
import { putBack, restoreAlone, type SaleParts, type SaleStep, sellAtomically, sellOne } from './sale.ts';
import { lackingSetting, type NodeServers } from './servers.ts';
import type { InventorySettings } from './settings.ts';
import { isStoreUnavailable, lockKey, type Stock, type Store, stockKey, wasNeverSent } from './store.ts';

/** How long to wait after Redis left a release unanswered, in milliseconds. */
const RELEASE_RETRY_DELAY_MS = 50;

/** The answer to a sale that took place. */
export interface Sold {
  outcome: 'sold';
  sku: string;
  stockBefore: number;
  remaining: number;
  saleId: string;
  node: string;
  lock: string;
  holder: string;
  /** Only when sales write orders. */
  orderId?: string;
}

/** What the next sales do between read and write, scripted by a drill: the steps in this order. */
export interface SaleScript {
  /** Ask for the same lock again, then give it up again. */
  nestedCall?: boolean | undefined;
  /** Hold inside for so many milliseconds. */
  pauseMs?: number | undefined;
  /** Hold inside until told to go on. */
  untilResumed?: boolean | undefined;
  /** Hold between the stock and the order, outside the lock, until told to go on. */
  beforeOrder?: boolean | undefined;
  /** Hold behind the order, before the answer, until told to go on. */
  beforeAnswer?: boolean | undefined;
  /** How many sales follow the script; 1 when it is not given. */
  times?: number | undefined;
}

/** What a drill may set together with the lock, in milliseconds. What it leaves out is as the node was started. */
export type LockTiming = Partial<Pick<InventorySettings, 'LEASE_MS' | 'RETRY_DELAY_MS' | 'WAIT_TIMEOUT_MS'>>;

/** How the sale requests of this node ended. The outcomes add up to `received` while none is in flight. */
export interface SaleCounts {
  received: number;
  sold: number;
  soldOut: number;
  lockTimeout: number;
  clientGone: number;
  failed: number;
  inDoubt: number;
}

/** How far a holder has come: its steps, each with the stock that was read or written. */
interface Progress {
  reached: Map<SaleStep, number | undefined>;
  /** The stock refused the write of a holder that had lost its lock. */
  refusal?: ProblemError;
}

/** The client hung up while its sale waited: nobody is there to be answered. */
export class ClientGoneError extends Error {
  readonly code = 'CLIENT_GONE';
}

export interface SaleDeskParts {
  settings: InventorySettings;
  node: string;
  store: Store;
  servers: NodeServers;
  history: History;
  metrics: Metrics;
}

export type SaleDesk = ReturnType<typeof createSaleDesk>;

/** Makes a new lock for every sale, counts how each ends, and records its history. */
export function createSaleDesk({ settings, node, store, servers, history, metrics }: SaleDeskParts) {
  const instance = randomUUID();
  const { orders } = servers;
  servers.connectFor(settings.LOCK_VERSION);
  let lockName = settings.LOCK_VERSION;
  let timing = settings;
  let script: SaleScript = {};
  let scriptedSales = 0;
  let isEnding = false;
  let onResume: (() => void)[] = [];
  let lastSaleId = 0;
  let waiting = 0;
  let inFlight = 0;
  let givingBack = 0;
  let counts = noSales();
  const unreleased = new Set<Promise<void>>();
  const waits = new Set<AbortController>();
  let onIdle: (() => void)[] = [];

  store.onAway(() => {
    // A lock in Redis tells its waiters; one that is elsewhere would have them wait for a stock that is not there.
    if (backendOf(lockName) === 'redis' || stockOf(lockName) === 'mysql') return;
    const error = new ProblemError('STORE_UNAVAILABLE', 'Redis went away while the sale waited for its lock.');
    for (const wait of waits) wait.abort(error);
  });

  /**
   * Sells one unit of `sku`, and writes its order where there are orders. Rejects with ProblemError when the sale did not
   * take place, or may not have, and with ClientGoneError when `clientGone` aborted while the sale waited for its lock. `keep`
   * stores what this resolves with, in the transaction of the order.
   */
  async function sell(sku: string, clientGone: AbortSignal, keep?: Keep): Promise<Sold> {
    lastSaleId += 1;
    const saleId = String(lastSaleId).padStart(4, '0');
    const holder = `${instance}:${saleId}`;
    const lock = lockName;
    const progress: Progress = { reached: new Map() };
    const { reached } = progress;
    let isLeaseLost = false;
    let isHeldBeforeOrder = false;
    let isHeldBeforeAnswer = false;
    const hasBegun = () => reached.has('entered') || reached.has('began');
    const order =
      orders &&
      openSaleOrder({
        orders,
        order: { id: randomUUID(), sku, quantity: 1, node, saleId, lock },
        giveBack: async () => void (await giveBack(sku, 1)),
      });

    const wait = startWait(clientGone);
    let stopTimer = metrics.waitSeconds.startTimer({ lock });
    history.record({ type: 'waiting', saleId });
    counts.received += 1;
    inFlight += 1;
    waiting += 1;

    let held: Lock | undefined;
    try {
      if (order) {
        await order.intend(wait.signal);
        stopTimer = metrics.waitSeconds.startTimer({ lock });
      }
      const { stockBefore, remaining } = await carryOut();
      const sold: Sold = { outcome: 'sold', sku, stockBefore, remaining, saleId, node, lock, holder };
      if (order) {
        if (isHeldBeforeOrder) await untilResumed();
        sold.orderId = order.id;
        await order.write(keep && ((ask) => keep(ask, sold)));
      }
      if (isHeldBeforeAnswer) await untilResumed();
      close('sold');
      return sold;
    } catch (error) {
      if (error instanceof LockNotHeldError) loseLease();
      giveUpUnanswered(held, error, progress);
      const ending = explain(error, progress);
      const hasTakenNothing = ending instanceof ClientGoneError || ending.problem.definite;
      if (hasTakenNothing) await order?.forget(ending);
      close(ending instanceof ClientGoneError ? 'clientGone' : outcomeOf(ending), ending);
      throw ending;
    }

    function carryOut() {
      const strategy = strategies[lock];
      if (strategy === undefined) throw new Error(`There is no lock ${lock}.`);
      if ('takeOne' in strategy) {
        const options = { sku, stockKey: stockKey(sku), signal: wait.signal, business, emit };
        return sellAtomically(strategy.takeOne, Object.assign(servers.forLease(timing.LEASE_MS), options), emit);
      }
      held = openLock(strategy.createLock, sku, holder, loseLease);
      return sellOne({ sku, lock: held, store: openStock(lock, progress), wait: wait.signal, business, emit });
    }

    function emit(step: SaleStep, stock?: number) {
      // A sale without a lock may have told it already.
      if (step === 'left' && reached.has('left')) return;
      const begins = !hasBegun() && (step === 'entered' || step === 'began');
      reached.set(step, stock);
      if (begins) {
        wait.end();
        waiting -= 1;
        stopTimer();
        stopTimer = metrics.holdSeconds.startTimer({ lock });
      }
      if (step === 'left') stopTimer();
      // A write that was refused did not take place.
      if (step === 'conflict') for (const undone of ['writing', 'left'] as const) reached.delete(undone);
      if (step !== 'writing' && step !== 'released') history.record({ type: step, saleId, stock });
    }

    function loseLease() {
      if (isLeaseLost) return;
      isLeaseLost = true;
      metrics.leaseLosses.inc({ lock });
      history.record({ type: 'lease-lost', saleId });
    }

    async function business() {
      if (scriptedSales === 0 || isEnding) return;
      scriptedSales -= 1;
      const { nestedCall, pauseMs, untilResumed: isHeldInside } = script;
      isHeldBeforeOrder = script.beforeOrder === true;
      isHeldBeforeAnswer = script.beforeAnswer === true;
      if (nestedCall && held) {
        history.record({ type: 'nested', saleId });
        const nestedWait = startWait(clientGone);
        await held.acquire(nestedWait.signal).finally(nestedWait.end);
        await held.release();
      }
      if (pauseMs !== undefined) await sleep(pauseMs);
      if (isHeldInside) await untilResumed();
    }

    function close(outcome: Exclude<keyof SaleCounts, 'received'>, ending?: ProblemError | ClientGoneError) {
      if (!hasBegun()) {
        wait.end();
        waiting -= 1;
      }
      if (ending !== undefined) {
        const { code, message: detail } = ending;
        history.record({ type: 'failed', saleId, code, ...(code === 'LOCK_FAILED' && { detail }) });
      }
      metrics.sales.inc({ lock, outcome });
      counts[outcome] += 1;
      inFlight -= 1;
      if (inFlight > 0) return;
      for (const resolve of onIdle) resolve();
      onIdle = [];
    }
  }

  /** Resolves with PUT /resume, or when the node stops. */
  async function untilResumed() {
    if (!isEnding) await new Promise<void>((resolve) => onResume.push(resolve));
  }

  /**
   * Puts units back into the stock as a sale takes them out: under its lock, or in one step where a sale needs none. Rejects
   * with ProblemError, definite when the stock is as it was. With an order the units go into Redis, and only if they are not
   * back already: resolves with whether they were put there now.
   */
  async function giveBack(sku: string, units: number, orderId?: string): Promise<boolean> {
    const strategy = strategies[lockName];
    if (strategy === undefined) throw new Error(`There is no lock ${lockName}.`);
    const progress: Progress = { reached: new Map() };
    const { reached } = progress;
    const emit = (step: SaleStep) => void reached.set(step, undefined);
    const wait = startWait(new AbortController().signal);
    givingBack += 1;
    let held: Lock | undefined;
    try {
      if ('takeOne' in strategy) {
        emit('writing');
        if (orderId !== undefined) return await store.restoreOnce(sku, units, orderId);
        if (await stock().addStock(sku, units)) return true;
        reached.delete('writing');
        throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
      }
      held = openLock(strategy.createLock, sku, `${instance}:back:${randomUUID()}`, () => {});
      const parts = { lock: held, store: openStock(lockName, progress), wait: wait.signal, emit };
      if (orderId === undefined) {
        await putBack({ sku, units, ...parts });
        return true;
      }
      const fenceOf = fenceFor(lockName);
      return await restoreAlone({
        ...parts,
        restore: (token) => store.restoreOnce(sku, units, orderId, fenceOf(token)),
      });
    } catch (error) {
      if (wasNeverSent(error)) reached.delete('writing');
      giveUpUnanswered(held, error, progress);
      throw explain(error, progress);
    } finally {
      givingBack -= 1;
      wait.end();
    }
  }

  /** The stock of one holder. A write that never left this process, or was refused, did not take place, for certain. */
  function openStock(lock: string, progress: Progress): SaleParts['store'] {
    const fenceOf = fenceFor(lock);
    return {
      readStock: store.readStock,
      async writeStock(sku, stock, token) {
        try {
          await store.writeStock(sku, stock, fenceOf(token));
        } catch (error) {
          if (error instanceof ProblemError) progress.refusal = error;
          if (progress.refusal || wasNeverSent(error)) progress.reached.delete('writing');
          throw error;
        }
      },
    };
  }

  function openLock(createLock: CreateLock, sku: string, ownerToken: string, onLeaseLost: () => void): Lock {
    const options = {
      key: lockKey(sku, lockName),
      ownerToken,
      leaseMs: timing.LEASE_MS,
      retryDelayMs: timing.RETRY_DELAY_MS,
      onLeaseLost,
    };
    // Not a spread: that would ask for every server at once.
    return createLock(Object.assign(servers.forLease(timing.LEASE_MS), options));
  }

  /** A signal that aborts after WAIT_TIMEOUT_MS or when the client has gone, with the error to end with as its reason. */
  function startWait(clientGone: AbortSignal) {
    const wait = new AbortController();
    waits.add(wait);
    const giveUp = () => wait.abort(new ClientGoneError('The client hung up while its sale waited.'));
    const detail = `The lock was not free within ${timing.WAIT_TIMEOUT_MS} ms.`;
    const timer = setTimeout(
      () => wait.abort(new ProblemError('LOCK_WAIT_TIMEOUT', detail, { retryAfterMs: 1000 })),
      timing.WAIT_TIMEOUT_MS,
    );
    if (clientGone.aborted) giveUp();
    clientGone.addEventListener('abort', giveUp, { once: true });
    return {
      signal: wait.signal,
      end() {
        waits.delete(wait);
        clearTimeout(timer);
        clientGone.removeEventListener('abort', giveUp);
      },
    };
  }

  /** When Redis did not answer, the lock may be ours, unless we never got to ask for it. */
  function giveUpUnanswered(lock: Lock | undefined, error: unknown, { reached }: Progress) {
    const mayHold = reached.has('entered') ? !reached.has('released') : !wasNeverSent(error);
    if (lock && isStoreUnavailable(error) && mayHold) releaseWhenBack(lock);
  }

  /**
   * Keeps a lock that nobody knows of from blocking everyone until its lease ends. Stages 2 to 4 cannot tell whose lock
   * they delete, so here, too, they may delete that of another holder.
   */
  function releaseWhenBack(lock: Lock) {
    const released = tryUntilAnswered().finally(() => unreleased.delete(released));
    unreleased.add(released);

    async function tryUntilAnswered() {
      await store.back();
      while (!(await isReleaseAnswered())) {
        await sleep(RELEASE_RETRY_DELAY_MS);
        await store.back();
      }
    }

    // An answer that nothing was held is an answer, too.
    const isReleaseAnswered = () =>
      lock.release().then(
        () => true,
        (error) => !isStoreUnavailable(error),
      );
  }

  return {
    sell,
    /** What the lab listener shows of this node. */
    state: () => ({
      node,
      port: settings.PORT,
      pid: process.pid,
      instance,
      lock: lockName,
      leaseMs: timing.LEASE_MS,
      retryDelayMs: timing.RETRY_DELAY_MS,
      waitTimeoutMs: timing.WAIT_TIMEOUT_MS,
      inFlight,
      waiting,
      unreleased: unreleased.size,
      counts: { ...counts },
    }),
    giveBack,
    stock,
    /** Changes the lock of all sales to come. Throws ProblemError SALES_IN_FLIGHT while there are any, or units on their way back. */
    setLock(name: string, changed: LockTiming = {}) {
      refuseWhileBusy();
      if (givingBack > 0) {
        const detail = `Units are being put back into the stock on ${node}. Try again when they are.`;
        throw new ProblemError('SALES_IN_FLIGHT', detail);
      }
      const lacking = lackingSetting(name, settings);
      if (lacking)
        throw new ProblemError('BAD_REQUEST', `${name} needs ${lacking}, which ${node} was started without.`);
      servers.connectFor(name);
      lockName = name;
      timing = { ...settings, ...changed };
    },
    scriptNextSales(next: SaleScript) {
      script = next;
      scriptedSales = next.times ?? 1;
    },
    resume,
    /** For a node that stops: no sale follows a script any more, or stays inside until told. */
    endScripts() {
      isEnding = true;
      resume();
    },
    /** Forgets the counts, the history and the scripted sale. Throws ProblemError SALES_IN_FLIGHT. */
    reset() {
      refuseWhileBusy();
      counts = noSales();
      scriptedSales = 0;
      history.clear();
    },
    /** Resolves when no sale is in flight. */
    async salesEnded() {
      if (inFlight > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
    /** Resolves when no lock is left that Redis has not answered about. */
    async locksGivenUp() {
      await Promise.all(unreleased);
    },
  };

  /** Where the present lock's sales take their units from. */
  function stock(): Stock {
    return stockOf(lockName) === 'mysql' ? servers.stockInMysql() : store;
  }

  /** Tells the sales that stay until told to go on. */
  function resume() {
    for (const resolve of onResume) resolve();
    onResume = [];
  }

  function refuseWhileBusy() {
    if (inFlight === 0) return;
    throw new ProblemError(
      'SALES_IN_FLIGHT',
      `Sales in flight on ${node}: ${inFlight}. Try again when they have ended.`,
    );
  }
}

/** What an error means for the sale: it depends on how far the sale had come. */
function explain(error: unknown, { reached, refusal }: Progress): ProblemError | ClientGoneError {
  const definite = !reached.has('writing');
  const ending = refusal ?? (isAbort(error) ? error.cause : error);
  if (ending instanceof ProblemError || ending instanceof ClientGoneError) return ending;
  if (ending instanceof LockNotHeldError) {
    const isSoldOut = (reached.get('read') ?? 1) <= 0;
    if (isSoldOut) return new ProblemError('OUT_OF_STOCK', 'Sold out; the lock was lost on the way.');
    return new ProblemError('LOCK_NOT_HELD', ending.message, { definite, cause: ending });
  }
  if (ending instanceof TooManyConflictsError) {
    return new ProblemError('TOO_MANY_CONFLICTS', ending.message, { retryAfterMs: 1000, cause: ending });
  }
  if (ending instanceof ExternalLockFault) {
    return new ProblemError('LOCK_FAILED', `${ending.message}.`, { definite, cause: ending });
  }
  if (isStoreUnavailable(ending)) {
    const server = serverBehind(ending);
    const when = definite ? 'before the sale was written' : 'while the sale was written';
    return new ProblemError('STORE_UNAVAILABLE', `${server} did not answer ${when}.`, { definite, cause: ending });
  }
  return new ProblemError('INTERNAL_ERROR', 'The sale failed; the log says why.', { definite, cause: ending });
}

/** The server that did not answer. */
function serverBehind(error: unknown) {
  if (error instanceof ZookeeperUnavailableError) return 'ZooKeeper';
  return isMysqlUnavailable(error) ? 'MySQL' : 'Redis';
}

/** What the stock is told of a holder; nothing when its lock has no tokens. */
function fenceFor(lock: string) {
  return (token: string | undefined) => (token === undefined ? undefined : { lock, token });
}

/** The error that `timers/promises` rejects with when a signal aborts; its cause is the signal's reason. */
function isAbort(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ABORT_ERR';
}

function outcomeOf({ code, problem }: ProblemError): 'soldOut' | 'lockTimeout' | 'failed' | 'inDoubt' {
  if (!problem.definite) return 'inDoubt';
  if (code === 'OUT_OF_STOCK') return 'soldOut';
  return code === 'LOCK_WAIT_TIMEOUT' ? 'lockTimeout' : 'failed';
}

function noSales(): SaleCounts {
  return { received: 0, sold: 0, soldOut: 0, lockTimeout: 0, clientGone: 0, failed: 0, inDoubt: 0 };
}
