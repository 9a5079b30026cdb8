// The contract: what every lock promises, and what it is given to work with.

import type { Cluster, Redis } from 'ioredis';
import type { Pool } from 'mysql2/promise';

/**
 * The words used in every stage:
 *
 * - holder: who has the lock now: a request, known by its owner token. Every request makes a new `Lock`, or several.
 * - waiter: who has asked and not yet got it.
 * - owner token: the value in Redis that proves who holds.
 * - lease: a lock with an end. It lasts `leaseMs` unless it is renewed.
 * - permit: the right to be one of several who are inside at once, under a semaphore.
 * - fencing token: a number that grows with every acquisition. The stock checks it at each read and write, never the lock.
 */

/** The right to be alone in one critical section. */
export interface Lock {
  /**
   * Resolves when this holder has the lock. Rejects with AbortError when `signal` aborts first.
   * A signal that is aborted already means: try once.
   */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Gives the lock up. Rejects with LockNotHeldError when it was no longer ours. */
  release(): Promise<void>;
  /** Beyond stage 8: aborts with LockNotHeldError when the holder learns that the lock is no longer its own. */
  readonly lost?: AbortSignal;
  /**
   * Beyond stage 8: the fencing token of this acquisition. A text of decimal digits without leading zeros, because a
   * JavaScript number is exact up to 2^53 only, and tokens may have 64 bits.
   */
  readonly fencingToken?: string | undefined;
  /** The sale shows its token when it writes, and not when it reads: `fenced-writes` has it, to show what that does. */
  readonly hasUnfencedReads?: boolean;
  /**
   * Only `replicated`: resolves when a replica has confirmed all that this connection has written so far. The sale asks for it
   * after its write, before it is answered. Rejects with NotReplicatedError.
   */
  confirm?(): Promise<void>;
}

/** A connection to one Redis server, or to a Cluster of them: a lock need not know which. */
export type RedisClient = Redis | Cluster;

/** The servers that locks work with. A lock is given Redis, and those that its backend names. */
export interface Servers {
  redis: RedisClient;
  /** Independent Redis servers, an odd number of them: `redlock`. */
  masters: Redis[];
  mysql: Pool;
  zookeeper: Zookeeper;
}

/** What a process has of ZooKeeper: its session, and the next one when that has ended. */
export interface Zookeeper {
  /** Resolves with the session, a new one if there is none. Rejects with ZookeeperUnavailableError within a second. */
  enter(): Promise<ZookeeperSession>;
  /** Ends the session, so that its nodes go at once, and resolves when ZooKeeper has heard, or does not answer. */
  close(): Promise<void>;
}

/** One session. Its calls reject with ZookeeperUnavailableError when it ends, or when an answer does not come in time. */
export interface ZookeeperSession {
  /** Aborts when the session has ended: nobody may claim to hold by it any more. */
  ended: AbortSignal;
  close(): Promise<void>;
  /** Creates an ephemeral node with this text in it, under a name that no node in its folder has had before. */
  create(path: string, text: string): Promise<void>;
  /** Resolves with all nodes in `folder`, the oldest first. */
  list(folder: string): Promise<{ path: string; czxid: bigint }[]>;
  /** Resolves when the node may be gone. Rejects with AbortError when `signal` aborts first. */
  untilGone(path: string, signal?: AbortSignal): Promise<void>;
  /** Resolves with false when there was no such node. */
  remove(path: string): Promise<boolean>;
}

export interface LockOptions extends Servers {
  /** The Redis key that stands for the lock; elsewhere its name. */
  key: string;
  /** `<service instance uuid>:<request id>`, different for every request. */
  ownerToken: string;
  /** How long a lease lasts, in milliseconds. */
  leaseMs: number;
  /** How often a watchdog renews the lease, in milliseconds: a third of it, unless somebody says otherwise. */
  renewEveryMs: number;
  /** Only `blocking`: the lease of an acquisition that was given one. No watchdog renews it. */
  fixedLeaseMs?: number | undefined;
  /** How long a waiter sleeps between two tries, in milliseconds. */
  retryDelayMs: number;
  /** How many may be inside at once, for a semaphore; for one alone when it is not given. */
  permits?: number;
  /** Called once when the holder learns that the lock is no longer its own (stage 8 on). */
  onLeaseLost: () => void;
}

export type CreateLock = (options: LockOptions) => Lock;

/** The right to be alone in several critical sections at once, each with a key of its own. */
export interface MultiLock {
  /** Resolves when this holder has the lock of every key. When it rejects, as that of one lock does, what it took is given back. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Gives every lock up, whatever becomes of the others. Rejects with LockNotHeldError when one of them was no longer ours. */
  release(): Promise<void>;
  /** Aborts with LockNotHeldError when the holder learns that one of the locks is no longer its own. */
  readonly lost: AbortSignal;
  /** The fencing token of this key's lock. */
  fencingTokenOf(key: string): string | undefined;
}

export type CreateMultiLock = (options: Omit<LockOptions, 'key'>, keys: string[]) => MultiLock;

/** The stock of one sku. Both reject when it has seen a newer fencing token of the lock than this one, and it is as it was. */
export interface FencedStock {
  /** Resolves with the stock, undefined when there is no such sku. From then on an older token may not write. */
  read(fencingToken: string | undefined): Promise<number | undefined>;
  /** Resolves with what is left where the stock decides that by itself. */
  write(stock: number, fencingToken: string | undefined): Promise<number | undefined>;
}

/** One of several keys that the stock of a sku lies in, with a lock and fencing tokens of its own. */
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
  /** The stock as a number to read and to write, for a strategy that has a lock of its own around both. */
  stock: FencedStock;
  /** Opens a lock on the sku, with an owner token of its own. */
  openLock(createLock: CreateLock): Lock;
  /** Only for `buckets`: where the stock lies. The first bucket is the stock above. */
  buckets: Bucket[];
  /** Resolves with the units of each bucket, all at one moment; undefined where there are none and never were. */
  readBuckets(): Promise<(number | undefined)[]>;
  /** Aborts when nobody waits for the sale any more. */
  signal: AbortSignal;
  /** What happens between read and write: nothing, unless a drill scripts it. */
  business: () => Promise<void>;
  /**
   * Has `send` write the stock, and resolves as that does: until then nobody knows whether the unit is taken. A write that was refused
   * may reject, or resolve with undefined or false.
   */
  write<T>(send: () => Promise<T>): Promise<T>;
  /**
   * Emits each step when it has happened. A sale that is alone from its first step on emits
   * `entered` then, and `left` before its next step may let others in; one that is not alone emits `began`. `conflict` is a
   * write that was refused, before the sale begins again. `waiting` is a sale that has left with nothing, and asks for another lock.
   */
  emit: (step: 'waiting' | 'entered' | 'began' | 'read' | 'left' | 'wrote' | 'conflict', stock?: number) => void;
}

/**
 * Takes one unit out of the stock, in a way of its own: nobody puts a lock around it. Resolves with the stock before it: 0 when it was
 * sold out and nothing was taken, undefined when there is no such sku. Rejects with AbortError when `signal` aborts first.
 */
export type TakeOne = (options: SaleOptions) => Promise<number | undefined>;

/** release() found that the lock was no longer ours: it ran out, or somebody else deleted it. */
export class LockNotHeldError extends Error {
  readonly code = 'LOCK_NOT_HELD';

  constructor(key: string) {
    super(`The lock ${key} was no longer held when it was released.`);
    this.name = 'LockNotHeldError';
  }
}

/** A reader has asked to write as well. It would wait for itself: it must give up its read lock first. */
export class LockUpgradeError extends Error {
  readonly code = 'LOCK_UPGRADE';

  constructor(key: string) {
    super(`A reader of the lock ${key} asked to write, and would wait for itself.`);
    this.name = 'LockUpgradeError';
  }
}

/** Too few of several masters answered to know who holds the lock. */
export class NoMajorityError extends Error {
  readonly code = 'NO_MAJORITY';

  constructor(key: string, options?: ErrorOptions) {
    super(`Too few masters answered about the lock ${key}.`, options);
    this.name = 'NoMajorityError';
  }
}

/** No replica has confirmed a write in time: it may be forgotten when Redis fails over. */
export class NotReplicatedError extends Error {
  readonly code = 'NOT_REPLICATED';

  constructor(key: string, options?: ErrorOptions) {
    super(`No replica has confirmed what was written under the lock ${key}.`, options);
    this.name = 'NotReplicatedError';
  }
}

/** A sale that begins again whenever its write is refused has done so too often. It has taken nothing. */
export class TooManyConflictsError extends Error {
  readonly code = 'TOO_MANY_CONFLICTS';

  constructor(sku: string, tries: number) {
    super(`The write of sku ${sku} was refused ${tries} times, because others wrote at the same time.`);
    this.name = 'TooManyConflictsError';
  }
}
