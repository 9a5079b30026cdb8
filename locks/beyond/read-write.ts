// Beyond · read-write
// Problem: a lock admits one request at a time, even readers, which could safely share it.
// Change:  many readers or one writer hold the lock; a waiting writer keeps new readers out.
// Leaves:  a slow reader keeps every writer out, and a steady stream of writers can starve the readers.
// Source:  Redisson, RReadWriteLock.

import { renewed } from '../drivers/renewed.ts';
import { readScript } from '../drivers/script.ts';
import { type CreateLock, LockUpgradeError } from '../lock.ts';

const acquireToWrite = readScript('acquire-to-write');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');
const releaseIfOwner = readScript('release-if-owner');
const acquireToRead = readScript('acquire-to-read');
const renewReader = readScript('renew-reader');
const releaseReader = readScript('release-reader');

/** A waiting writer keeps new readers out for the retry delay plus this, in milliseconds: it may have crashed. */
const MARK_MS = 1_000;

const keysOf = (key: string) => [key, `${key}:readers`, `${key}:leases`, `${key}:waiting`];

/** The write lock: exclusive. */
export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs, retryDelayMs } = options;
  const keys = keysOf(key);
  let markMs = 0;

  async function tryOnce() {
    const answer = await acquireToWrite(redis, keys, [ownerToken, leaseMs, markMs]);
    if (answer === -1) throw new LockUpgradeError(key);
    return answer > 0;
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  const giveBack = () => releaseReentrant(redis, [key], [ownerToken, leaseMs]);
  const lock = renewed(options, { tryOnce, renew, giveBack });

  async function acquire(signal?: AbortSignal) {
    markMs = signal?.aborted ? 0 : retryDelayMs + MARK_MS;
    await lock.acquire(signal).catch((error) => {
      if (markMs > 0) releaseIfOwner(redis, keys.slice(3), [ownerToken]).catch(ignore);
      throw error;
    });
  }

  return { ...lock, acquire };
};

/** The read lock: shared. */
export const createReadLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs } = options;
  const keys = keysOf(key);
  const readers = keys.slice(1, 3);

  return renewed(options, {
    tryOnce: async () => (await acquireToRead(redis, keys, [ownerToken, leaseMs])) > 0,
    renew: () => renewReader(redis, readers, [ownerToken, leaseMs]),
    giveBack: () => releaseReader(redis, readers, [ownerToken]),
  });
};

function ignore() {}
