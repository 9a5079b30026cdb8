// The code inside a simulated node: the inventory service's own sale path, without HTTP, metrics and servers other than Redis.

import { takeUnderPermit } from '../locks/drivers/under-permit.ts';
import type { CreateLock, TakeOne } from '../locks/lock.ts';
import { createRegistry, type Strategy } from '../locks/strategy.ts';
import type { SaleEvent } from '../services/inventory/sale/contract.ts';
import { supervised } from '../services/inventory/sale/external-lock.ts';
import { createHistory } from '../services/inventory/sale/history.ts';
import type { SaleServiceParts } from '../services/inventory/sale/parts.ts';
import { createSaleService } from '../services/inventory/sale/sale-service.ts';
import { asProblem } from '../services/inventory/servers/away-server.ts';
import { connectStore, lockKeys } from '../services/inventory/servers/store.ts';
import { USUAL_PERMITS } from '../services/inventory/settings/limits.ts';

/** What a lock's file exports. */
export type LockFile = {
  createLock?: unknown;
  takeOne?: TakeOne;
  createReadLock?: unknown;
  createMultiLock?: unknown;
  promises?: unknown;
};

export interface ServiceOptions {
  node: string;
  lock: string;
  /** What the registry says of the lock, besides what its file exports. */
  facts: Pick<Strategy, 'backend' | 'commands' | 'replicas' | 'hasLease' | 'isSemaphore' | 'takesLease'> & {
    stockIn?: 'redis';
    isInBuckets?: true;
    /** It is none of ours, so it is held to what a lock must do. */
    isExternal?: true;
  };
  leaseMs: number;
  retryDelayMs: number;
  waitTimeoutMs: number;
  /** Clients of the masters that vote. */
  masters: object[];
  /** Told of each step of a sale that is recorded, before what follows from it. */
  onStep?: (step: Omit<SaleEvent, 'at' | 'node'>) => void;
  /** Told of a sale that goes on without one. */
  onPass?: (saleId: string) => void;
  /** Told what an external lock has thrown, before what follows from it. */
  onFault?: (error: unknown) => void;
}

/** Of so many events a node remembers the last. */
const HISTORY = 100_000;
const PORT = 7777;

const unmeasured = { of: () => unmeasured, observe() {}, inc() {} };
const metrics = new Proxy({}, { get: () => unmeasured }) as SaleServiceParts['metrics'];

/** Starts the service with this lock alone. */
export function startService(lockFile: LockFile, options: ServiceOptions) {
  const { node, lock, facts, leaseMs, retryDelayMs, waitTimeoutMs, masters, onStep, onPass, onFault } = options;
  const { createReadLock, createMultiLock } = lockFile;
  const createLock = facts.isExternal ? supervised(lockFile.createLock as CreateLock, onFault) : lockFile.createLock;
  const takeOne = facts.isSemaphore ? takeUnderPermit(createLock as CreateLock) : lockFile.takeOne;
  const exported = Object.entries({ createLock, takeOne, createReadLock, createMultiLock });
  const strategy = { ...facts, ...Object.fromEntries(exported.filter(([, value]) => value !== undefined)) } as Strategy;
  const registry = createRegistry({ [lock]: strategy });
  const store = connectStore('redis://127.0.0.1:6379', undefined, facts.commands && { [lock]: facts.commands });
  const history = createHistory(node, HISTORY);
  const { record } = history;
  history.record = (step) => {
    onStep?.(step);
    record(step);
  };
  if (onPass) history.pass = onPass;
  const service = createSaleService({
    registry,
    settings: {
      PORT,
      LOCK_VERSION: lock,
      LOCK_SCOPE: 'sku',
      LEASE_MS: leaseMs,
      RETRY_DELAY_MS: retryDelayMs,
      WAIT_TIMEOUT_MS: waitTimeoutMs,
      PERMITS: USUAL_PERMITS,
    },
    node,
    store,
    servers: {
      forLock: () => ({ redis: store.redis, masters }) as never,
      mustServe() {},
      sendTogether() {},
      stockInMysql() {
        throw new Error('The simulation has no MySQL.');
      },
    } satisfies SaleServiceParts['servers'],
    history,
    metrics,
    log: { warn() {}, info() {}, debug() {} },
  });

  return {
    ...service,
    history,
    redis: store.redis,
    lacks: store.lacks,
    problemOf,
    /** True when all of its servers have answered. */
    isReady: () => [store.redis, ...(masters as { status: string }[])].every(({ status }) => status === 'ready'),
    /** Deletes the stock of a sku and every key of its lock. */
    async clear(sku: string) {
      await service.stock().deleteStock(sku);
      await store.redis.del(...lockKeys(sku, lock, registry.isInBuckets(lock) ? store.buckets : 1));
    },
  };
}

export type Service = ReturnType<typeof startService>;

/** The body of the answer to a request that failed, as HTTP has it (services/inventory/http/answer.ts). Undefined when the client is gone. */
function problemOf(error: unknown) {
  const { code, problem } = asProblem(error);
  return code === 'CLIENT_GONE' ? undefined : problem;
}
