// The contract: what every lock promises, and what it gets to work with.

import type { Cluster, Redis } from 'ioredis';
import type { Pool } from 'mysql2/promise';

/**
 * The terms used in every stage:
 *
 * - holder: the request that has the lock now, identified by its owner token. Every request creates a new `Lock`, or several.
 * - waiter: a request that is waiting for the lock.
 * - owner token: the value in Redis that proves who the holder is.
 * - lease: a lock that expires. It lasts `leaseMs` unless it is renewed.
 * - permit: the right to be one of several holders inside at once, under a semaphore.
 * - fencing token: a number that grows with every acquisition. The stock checks it at each read and write; the lock never does.
 */

/** Exclusive access to one critical section. */
export interface Lock {
  /**
   * Resolves once this holder has the lock. Rejects with AbortError if `signal` aborts first.
   * If the signal has already aborted, acquire tries exactly once.
   */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Releases the lock. Rejects with LockNotHeldError if it was no longer ours. After any other error it may be called again. */
  release(): Promise<void>;
  /** Beyond stage 8: aborts with LockNotHeldError when the holder learns that it has lost the lock. */
  readonly lost?: AbortSignal;
  /**
   * Beyond stage 8: the fencing token of this acquisition. A string of decimal digits without leading zeros, because a
   * JavaScript number is exact only up to 2^53, and tokens may have 64 bits.
   */
  readonly fencingToken?: string | undefined;
  /** The sale sends its token with its write but not with its read. Only `fenced-writes` sets this, to show the consequence. */
  readonly hasUnfencedReads?: boolean;
  /**
   * Only `replicated`: resolves once a replica has confirmed everything that this connection has written so far. The sale
   * calls it after its write, before the buyer gets an answer. Rejects with NotReplicatedError.
   */
  confirm?(): Promise<void>;
}

/** A connection to one Redis server or to a Redis Cluster: a lock does not have to know which. */
export type RedisClient = Redis | Cluster;

/** The servers that locks work with. A lock gets Redis and the servers of its backend. */
export interface Servers {
  redis: RedisClient;
  /** An odd number of independent Redis servers, for `redlock`. */
  masters: Redis[];
  mysql: Pool;
  zookeeper: Zookeeper;
}

/** A process's access to ZooKeeper: its session, and a new one after that has expired. */
export interface Zookeeper {
  /** Resolves with the session, opening one if there is none. Rejects with ZookeeperUnavailableError within a second. */
  enter(): Promise<ZookeeperSession>;
  /** Closes the session, so its znodes are deleted at once. Resolves when ZooKeeper has confirmed, or does not reply. */
  close(): Promise<void>;
}

/** One session. Its calls reject with ZookeeperUnavailableError when it ends, or when a reply does not arrive in time. */
export interface ZookeeperSession {
  /** Aborts when the session has ended: from then on it holds nothing. */
  ended: AbortSignal;
  close(): Promise<void>;
  /** Creates an ephemeral znode with this text, under a name that no znode in its folder has had before. */
  create(path: string, text: string): Promise<void>;
  /** Resolves with all znodes in `folder`, oldest first. */
  list(folder: string): Promise<{ path: string; czxid: bigint }[]>;
  /** Resolves when the znode may be gone. Rejects with AbortError if `signal` aborts first. */
  untilGone(path: string, signal?: AbortSignal): Promise<void>;
  /** Resolves with false if there was no such znode. */
  remove(path: string): Promise<boolean>;
}

export interface LockOptions extends Servers {
  /** The lock's Redis key; on other backends its name. */
  key: string;
  /** `<service instance uuid>:<request id>`, unique per request. */
  ownerToken: string;
  /** How long a lease lasts, in milliseconds. */
  leaseMs: number;
  /** How often a watchdog renews the lease, in milliseconds: a third of the lease by default. */
  renewEveryMs: number;
  /** Only `blocking`: a fixed lease for this acquisition. No watchdog renews it. */
  fixedLeaseMs?: number | undefined;
  /** How long a waiter sleeps between two tries, in milliseconds. */
  retryDelayMs: number;
  /** For a semaphore: how many holders may be inside at once. 1 by default. */
  permits?: number;
  /** Called once when the holder learns that it has lost the lock (from stage 8 on). */
  onLeaseLost: () => void;
}

export type CreateLock = (options: LockOptions) => Lock;

/** Exclusive access to several critical sections at once, each with its own key. */
export interface MultiLock {
  /** Resolves once this holder has the lock of every key. Rejects like a single lock, after releasing what it had acquired. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Releases every lock, even if releasing another fails. Rejects with LockNotHeldError if one of them was no longer ours. */
  release(): Promise<void>;
  /** Aborts with LockNotHeldError when the holder learns that it has lost one of the locks. */
  readonly lost: AbortSignal;
  /** The fencing token of this key's lock. */
  fencingTokenOf(key: string): string | undefined;
}

export type CreateMultiLock = (options: Omit<LockOptions, 'key'>, keys: string[]) => MultiLock;

/** The stock of one sku. Both methods reject, and change nothing, if the stock has seen a newer fencing token of the lock. */
export interface FencedStock {
  /** Resolves with the stock, undefined if there is no such sku. From then on, writes with an older token are refused. */
  read(fencingToken: string | undefined): Promise<number | undefined>;
  /** Resolves with the remaining stock where the stock itself decides it. */
  write(stock: number, fencingToken: string | undefined): Promise<number | undefined>;
}

/** One of several keys that hold the stock of a sku, with its own lock and fencing tokens. */
export interface Bucket {
  stock: FencedStock;
  openLock: SaleOptions['openLock'];
  /** Emits what happens in this bucket. */
  emit: SaleOptions['emit'];
}

export interface SaleOptions extends Servers {
  sku: string;
  /** The Redis key of the stock. */
  stockKey: string;
  /** The stock as a number to read and write, for a strategy that puts its own lock around both. */
  stock: FencedStock;
  /** Opens a lock on the sku, with its own owner token. */
  openLock(createLock: CreateLock): Lock;
  /** Only for `buckets`: the buckets of the stock. The first bucket is the stock above. */
  buckets: Bucket[];
  /** Resolves with the units of each bucket, all read at one moment; undefined for a bucket that does not exist. */
  readBuckets(): Promise<(number | undefined)[]>;
  /** Aborts when the buyer no longer waits for the sale. */
  signal: AbortSignal;
  /** Runs between read and write: does nothing, unless a drill scripts it. */
  business: () => Promise<void>;
  /**
   * Lets `send` write the stock, and settles as it does: until then nobody knows whether the unit is taken. A refused write
   * may reject, or resolve with undefined or false.
   */
  write<T>(send: () => Promise<T>): Promise<T>;
  /**
   * Emits each step after it has happened. A sale that has exclusive access emits `entered` at its start, and `left` before a
   * step that may let others in; a sale without it emits `began`. `conflict` means a write was refused and the sale starts
   * over. `waiting` means a sale left without a unit and is acquiring another lock.
   */
  emit: (step: 'waiting' | 'entered' | 'began' | 'read' | 'left' | 'wrote' | 'conflict', stock?: number) => void;
}

/**
 * Takes one unit out of the stock in its own way, without a lock around it. Resolves with the stock before the sale: 0 if it
 * was sold out and nothing was taken, undefined if there is no such sku. Rejects with AbortError if `signal` aborts first.
 */
export type TakeOne = (options: SaleOptions) => Promise<number | undefined>;

/** release() found that the lock was no longer ours: it expired, or another holder deleted it. */
export class LockNotHeldError extends Error {
  readonly code = 'LOCK_NOT_HELD';

  constructor(key: string) {
    super(`The lock ${key} was not held when it was released.`);
    this.name = 'LockNotHeldError';
  }
}

/** A reader tried to acquire the write lock. It would wait for itself, so it must release its read lock first. */
export class LockUpgradeError extends Error {
  readonly code = 'LOCK_UPGRADE';

  constructor(key: string) {
    super(`A reader of the lock ${key} tried to acquire the write lock: it would wait for itself.`);
    this.name = 'LockUpgradeError';
  }
}

/** Too few masters replied to know who holds the lock. */
export class NoMajorityError extends Error {
  readonly code = 'NO_MAJORITY';

  constructor(key: string, options?: ErrorOptions) {
    super(`Too few masters replied about the lock ${key}.`, options);
    this.name = 'NoMajorityError';
  }
}

/** No replica confirmed a write in time: a failover may lose it. */
export class NotReplicatedError extends Error {
  readonly code = 'NOT_REPLICATED';

  constructor(key: string, options?: ErrorOptions) {
    super(`No replica has confirmed what was written under the lock ${key}.`, options);
    this.name = 'NotReplicatedError';
  }
}

/** A sale that retries refused writes has reached its limit. It has taken nothing. */
export class TooManyConflictsError extends Error {
  readonly code = 'TOO_MANY_CONFLICTS';

  constructor(sku: string, tries: number) {
    super(`The write of sku ${sku} was refused ${tries} times, because other sales wrote at the same time.`);
    this.name = 'TooManyConflictsError';
  }
}
