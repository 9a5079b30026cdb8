// Beyond · cohort
// Problem: each acquisition costs Redis commands and a wake-up message, even when the next holder is in the same process.
// Change:  a node takes the lock in Redis once, passes it among its own waiters, then hands it to a waiting node.
// Leaves:  waiters are served in order only within a node; a paused process still believes it holds the lock.
// Source:  Dice, Marathe and Shavit, Lock cohorting: a general technique for designing NUMA locks, 2012.

import { type Contender, createNode, type Lease } from '../drivers/cohort-node.ts';
import { type CreateLock, type Lock, LockNotHeldError, type LockOptions, type RedisClient } from '../lock.ts';

const done = Promise.resolve();
const nodes = new WeakMap<RedisClient, Map<string, ReturnType<typeof createNode>>>();

export const createLock: CreateLock = (options) => new CohortLock(options, false);

/** The lock of `combine`: each tenure has a fencing token, and all its holders use it. */
export const createFencedLock: CreateLock = (options) => new CohortLock(options, true);

/** A class, because it is cheap to create: closures and a getter per sale would double the cost of passing the lock on. */
class CohortLock implements Lock, Contender {
  readonly ownerToken: string;
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  signal: AbortSignal | undefined;
  unanswered: Lease | undefined;
  fencingToken: string | undefined;
  private readonly key: string;
  private readonly onLeaseLost: () => void;
  private readonly redis: RedisClient;
  private readonly hasTokens: boolean;
  private node: ReturnType<typeof createNode> | undefined;
  private holdCount = 0;
  /** The lock object of the same request that holds the lock; this one shares its hold. */
  private outer: CohortLock | undefined;
  private outerHolds = 0;
  private loss: AbortController | undefined;
  private resolve: (() => void) | undefined;
  private reject: ((error: Error) => void) | undefined;

  constructor({ redis, key, ownerToken, leaseMs, renewEveryMs, onLeaseLost }: LockOptions, hasTokens: boolean) {
    this.ownerToken = ownerToken;
    this.leaseMs = leaseMs;
    this.renewEveryMs = renewEveryMs;
    this.key = key;
    this.onLeaseLost = onLeaseLost;
    this.redis = redis;
    this.hasTokens = hasTokens;
  }

  acquire(signal?: AbortSignal): Promise<void> {
    if (this.holdCount > 0) {
      this.holdCount += 1;
      return done;
    }
    const node = nodeOf(this.redis, this.key, this.hasTokens);
    const holder = node.holder();
    if (holder instanceof CohortLock && holder.ownerToken === this.ownerToken) {
      this.outer = holder;
      this.outerHolds += 1;
      this.fencingToken = holder.fencingToken;
      return holder.acquire();
    }
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      this.signal = signal;
      signal?.addEventListener('abort', this);
      this.node = node;
      node.join(this);
    });
  }

  release(): Promise<void> {
    if (this.outer !== undefined && this.outerHolds > 0) {
      this.outerHolds -= 1;
      return this.outer.release();
    }
    if (this.node === undefined) return Promise.reject(new LockNotHeldError(this.key));
    if (this.holdCount === 0) return this.node.giveBack(this);
    this.holdCount -= 1;
    return this.holdCount > 0 ? done : this.node.passOn();
  }

  /** Created on first use, because creating it costs more than passing the lock on. */
  get lost(): AbortSignal {
    if (this.outer !== undefined && this.outerHolds > 0) return this.outer.lost;
    this.loss ??= new AbortController();
    return this.loss.signal;
  }

  enter(fencingToken: string | undefined) {
    this.signal?.removeEventListener('abort', this);
    this.holdCount = 1;
    this.fencingToken = fencingToken;
    this.resolve?.();
  }

  refuse(error: Error) {
    this.signal?.removeEventListener('abort', this);
    this.reject?.(error);
  }

  lose() {
    this.holdCount = 0;
    this.onLeaseLost();
    this.loss ??= new AbortController();
    this.loss.abort(new LockNotHeldError(this.key));
  }

  /** Called when the signal aborts. */
  handleEvent() {
    this.node?.leave(this);
  }
}

/** The node of this process for the key. It exists as long as a request holds the lock or waits for it. */
function nodeOf(redis: RedisClient, key: string, hasTokens: boolean) {
  const ofClient = nodes.get(redis) ?? new Map<string, ReturnType<typeof createNode>>();
  nodes.set(redis, ofClient);
  const node = ofClient.get(key) ?? createNode({ redis, key, hasTokens, onIdle: () => ofClient.delete(key) });
  ofClient.set(key, node);
  return node;
}
