import { randomUUID } from 'node:crypto';
import type { LockOptions, SaleOptions } from '../../locks/lock.ts';

/** What is done about a lease that is lost by surprise: a process that is no test ends. */
let tellLost = (key: string): void => {
  throw new Error(`The lease on ${key} was lost.`);
};

/** From now on `listener` is given the key of each lease that is lost by surprise. */
export function hearLostLeases(listener: (key: string) => void) {
  tellLost = listener;
}

/** Options for a new holder: what a test does not care about is filled in. A lease lost by surprise fails the test. */
export function lockOptions(given: Partial<LockOptions> & Pick<LockOptions, 'redis' | 'key'>): LockOptions {
  return {
    masters: [],
    mysql: undefined as never,
    zookeeper: undefined as never,
    ownerToken: randomUUID(),
    leaseMs: 30_000,
    renewEveryMs: 10_000,
    retryDelayMs: 1,
    onLeaseLost: () => tellLost(given.key),
    ...given,
  };
}

const unused = undefined as never;

/** Options for a sale: what a test does not care about is filled in. */
export function saleOptions(given: Partial<SaleOptions>): SaleOptions {
  return {
    redis: unused,
    masters: [],
    mysql: unused,
    zookeeper: unused,
    sku: '001',
    stockKey: 'unused',
    stock: unused,
    openLock: unused,
    buckets: [],
    readBuckets: unused,
    signal: new AbortController().signal,
    business: async () => {},
    write: (send) => send(),
    emit() {},
    ...given,
  };
}

/** What acquire rejects with when its signal aborts first. */
export const aborted = { name: 'AbortError', code: 'ABORT_ERR' };
/** What release rejects with when the lock was not held. */
export const notHeld = { name: 'LockNotHeldError', code: 'LOCK_NOT_HELD' };
