import { abortable, abortError } from '../../../locks/drivers/abortable.ts';
import type { Backend } from '../../../locks/index.ts';
import { type CreateLock, type Lock, LockNotHeldError, type LockOptions } from '../../../locks/lock.ts';
import { describe, ExternalLockFault } from '../problem.ts';
import { isStoreUnavailable } from '../servers/away-server.ts';

/** The time limit for an external lock's single try, in milliseconds. */
const TRY_LIMIT_MS = 1_000;
const RELEASE_LIMIT_MS = 5_000;

/** What an external lock's promises imply: whether it uses several voting masters, and whether it is a semaphore. */
export function factsOfPromises(promises: unknown): { backend: Backend; isSemaphore?: true } {
  const { masters, permits } = (promises ?? {}) as { masters?: unknown; permits?: unknown };
  return { backend: masters === true ? 'masters' : 'redis', ...(permits === true && { isSemaphore: true }) };
}

/**
 *
 * Enforces the lock contract on an external lock: acquire() settles when its signal aborts, after one try when it was aborted
 * before; release() settles in time. A late grant is released; other errors become ExternalLockFault, unless a server is
 * unavailable. `onFault` gets the original error first.
 *
 */
export function supervised(createLock: CreateLock, onFault: (error: unknown) => void = () => {}): CreateLock {
  return (options) => {
    const lock = makeLock(createLock, options, onFault);

    async function acquire(signal?: AbortSignal) {
      const asked = Promise.resolve().then(() => lock.acquire(signal));
      // A signal that is aborted already means: try once.
      const end = signal?.aborted ? AbortSignal.timeout(TRY_LIMIT_MS) : signal;
      await abortable(asked, end, () => lock.release()).catch((error: unknown) => {
        throw signal?.aborted && !isStoreUnavailable(error) ? abortError(signal) : faultOf('acquire()', error);
      });
    }

    async function release() {
      const released = Promise.resolve().then(() => lock.release());
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), RELEASE_LIMIT_MS);
      await abortable(released, limit.signal)
        .catch((error: unknown) => {
          if (!limit.signal.aborted) throw faultOf('release()', error);
          throw new ExternalLockFault(`release() did not settle within ${RELEASE_LIMIT_MS} ms`);
        })
        .finally(() => clearTimeout(timer));
    }

    /** The LockNotHeldError may come from another copy of the file that defines it. */
    function faultOf(call: string, error: unknown): unknown {
      if (error instanceof ExternalLockFault || isStoreUnavailable(error)) return error;
      if ((error as { code?: unknown } | null)?.code === 'LOCK_NOT_HELD') return new LockNotHeldError(options.key);
      onFault(error);
      return new ExternalLockFault(`${call} fails: ${describe(error)}`, { cause: error });
    }

    return {
      acquire,
      release,
      get lost() {
        return lock.lost?.aborted ? AbortSignal.abort(new LockNotHeldError(options.key)) : lock.lost;
      },
      get fencingToken() {
        return tokenOf(lock.fencingToken);
      },
      get hasUnfencedReads() {
        return lock.hasUnfencedReads === true;
      },
    } as Lock;
  };
}

function makeLock(createLock: CreateLock, options: LockOptions, onFault: (error: unknown) => void): Lock {
  let lock: Lock | null | undefined;
  try {
    lock = createLock(options);
  } catch (error) {
    onFault(error);
    throw new ExternalLockFault(`createLock() throws: ${describe(error)}`, { cause: error });
  }
  if (typeof lock?.acquire === 'function' && typeof lock.release === 'function') return lock;
  throw new ExternalLockFault(`createLock() does not return { acquire, release }: it returns ${describe(lock)}`);
}

/** The digits that the stock compares. An exact number works as well. */
function tokenOf(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  const isExact = typeof token !== 'number' || Number.isSafeInteger(token);
  if (isExact && /^\d+$/.test(String(token))) return BigInt(String(token)).toString();
  throw new ExternalLockFault(`its fencingToken is not a whole number: it is ${describe(token)}`);
}
