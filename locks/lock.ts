import type { Redis } from 'ioredis';

/**
 * The words used in every stage:
 *
 * - holder: who has the lock now. Make a new `Lock` for every request: the `Lock` is the holder.
 * - waiter: who has asked and not yet got it.
 * - owner token: the value in Redis that proves who holds.
 * - lease: a lock with an end. It lasts `leaseMs` unless it is renewed.
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
}

export interface LockOptions {
  redis: Redis;
  /** The Redis key that stands for the lock. */
  key: string;
  /** `<service instance uuid>:<request id>`, different for every holder. */
  ownerToken: string;
  /** How long a lease lasts, in milliseconds. */
  leaseMs: number;
  /** How long a waiter sleeps between two tries, in milliseconds. */
  retryDelayMs: number;
  /** Called once when a renewal finds that the lock is no longer ours (stage 8). */
  onLeaseLost: () => void;
}

export type CreateLock = (options: LockOptions) => Lock;

/** release() found that the lock was no longer ours: it ran out, or somebody else deleted it. */
export class LockNotHeldError extends Error {
  readonly code = 'LOCK_NOT_HELD';

  constructor(key: string) {
    super(`The lock ${key} was no longer held when it was released.`);
    this.name = 'LockNotHeldError';
  }
}
