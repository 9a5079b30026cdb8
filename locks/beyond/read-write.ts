// Beyond · read-write
// Problem: a lock lets in one at a time, also readers, which would harm nobody.
// Change:  many readers or one writer; a writer that waits keeps new readers out.
// Leaves:  a reader that stays keeps every writer out; writers that come without end may keep a reader out.
// Source:  Redisson, RReadWriteLock.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError, LockUpgradeError } from '../lock.ts';

const acquireToWrite = readScript('acquire-to-write');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');
const releaseIfOwner = readScript('release-if-owner');
const acquireToRead = readScript('acquire-to-read');
const renewReader = readScript('renew-reader');
const releaseReader = readScript('release-reader');

/** How much longer than the pause between two tries a waiting writer keeps new readers out, in milliseconds: it may be dead. */
const MARK_MS = 1_000;

const keysOf = (key: string) => [key, `${key}:readers`, `${key}:leases`, `${key}:waiting`];

/** The write lock: for one alone. */
export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const keys = keysOf(key);
  const lost = new AbortController();
  let holdCount = 0;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    const markMs = signal?.aborted ? 0 : retryDelayMs + MARK_MS;
    try {
      while (!(await tryOnce(markMs))) await sleep(retryDelayMs, undefined, { signal });
    } catch (error) {
      if (markMs > 0) releaseIfOwner(redis, keys.slice(3), [ownerToken]).catch(ignore);
      throw error;
    }
    holdCount += 1;
    if (holdCount === 1) watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
  }

  async function tryOnce(markMs: number) {
    askedAt = performance.now();
    const answer = await acquireToWrite(redis, keys, [ownerToken, leaseMs, markMs]);
    if (answer === -1) throw new LockUpgradeError(key);
    return answer > 0;
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);

  function lose() {
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Before asking Redis: if it does not answer, the lease must end by itself.
    if (holdCount === 0) watchdog?.stop();
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
};

/** The read lock: for many at once. */
export const createReadLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const keys = keysOf(key);
  const readers = keys.slice(1, 3);
  const lost = new AbortController();
  let holdCount = 0;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await tryOnce()) === 0) await sleep(retryDelayMs, undefined, { signal });
    holdCount += 1;
    if (holdCount === 1) watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
  }

  function tryOnce() {
    askedAt = performance.now();
    return acquireToRead(redis, keys, [ownerToken, leaseMs]);
  }

  const renew = () => renewReader(redis, readers, [ownerToken, leaseMs]);

  function lose() {
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    if (holdCount === 0) watchdog?.stop();
    if ((await releaseReader(redis, readers, [ownerToken])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
};

function ignore() {}
