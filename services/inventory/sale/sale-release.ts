// Locks that this node may still hold after a failure: a server did not reply, or Redis refused the release. The release is
// retried until it succeeds, until the lock is no longer ours, or until its lease has expired.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Lock, MultiLock } from '../../../locks/lock.ts';
import { isStoreUnavailable, refusalOf } from '../servers/away-server.ts';
import { type Store, wasNeverSent } from '../servers/store.ts';
import type { SaleServiceParts } from './parts.ts';

/** How long to wait before the first retry of a release, in milliseconds; the delay doubles each time. */
const RETRY_DELAY_MS = { first: 50, longest: 1_000 };

export type Releases = ReturnType<typeof createReleases>;

interface Followed {
  lock: Lock | MultiLock;
  name: string;
  leaseMs: number;
  once?: AbortSignal | undefined;
}

interface ReleaseParts {
  registry: Pick<SaleServiceParts['registry'], 'hasLease'>;
  store: Pick<Store, 'back'>;
  metrics: { releaseRetries: { inc(): void } };
  log: Pick<Logger, 'warn' | 'info'>;
}

export function createReleases({ registry, store, metrics, log }: ReleaseParts) {
  const unreleased = new Set<Promise<void>>();
  const refusals = createRefusalLog(log);

  /**
   * Tries for one lease from when Redis is back: a lock that was granted before has ended by then.
   * A lock without a lease it tries until it is answered. Stages 2 to 4 can't tell whose lock they
   * delete: it may be that of another holder.
   */
  async function releaseAgain({ lock, name, leaseMs }: Followed, error: unknown) {
    await store.back();
    const staysMs = registry.hasLease(name) ? leaseMs : Number.POSITIVE_INFINITY;
    const endsAt = performance.now() + staysMs;
    const own = refusals.open(name);
    let delayMs = RETRY_DELAY_MS.first;
    let failure = refusalOf(error) === undefined ? await failureOf(lock) : error;
    while (failure !== undefined && performance.now() < endsAt) {
      own.note(failure);
      metrics.releaseRetries.inc();
      await sleep(Math.min(delayMs, endsAt - performance.now()));
      delayMs = Math.min(2 * delayMs, RETRY_DELAY_MS.longest);
      await store.back();
      failure = await failureOf(lock);
    }
    own.close(failure);
  }

  function follow(its: Followed, error: unknown) {
    const released = releaseAgain(its, error).finally(() => unreleased.delete(released));
    unreleased.add(released);
  }

  return {
    /**
     *
     * Wraps a lock for its holder: if a failed acquire or release leaves it possibly held, this node releases it. `name` is
     * that of the strategy, `leaseMs` the lease in milliseconds. With `once` it is tried once: that is aborted already, and its
     * reason is why.
     *
     */
    followed: (lock: Lock | MultiLock, name: string, leaseMs: number, once?: AbortSignal) =>
      new FollowedLock({ lock, name, leaseMs, once }, follow),
    count: () => unreleased.size,
    ended: () => Promise.all(unreleased),
  };
}

/** A class, because it is cheap to create: every sale needs one. */
class FollowedLock implements Lock {
  private readonly its: Followed;
  private readonly follow: (its: Followed, error: unknown) => void;

  constructor(its: Followed, follow: (its: Followed, error: unknown) => void) {
    this.its = its;
    this.follow = follow;
  }

  async acquire(signal?: AbortSignal) {
    try {
      await this.its.lock.acquire(this.its.once ?? signal);
    } catch (error) {
      if (isStoreUnavailable(error) && mayHold(this.its, error)) this.follow(this.its, error);
      throw error;
    }
  }

  async release() {
    try {
      await this.its.lock.release();
    } catch (error) {
      if (isStoreUnavailable(error)) this.follow(this.its, error);
      throw error;
    }
  }

  async confirm() {
    if ('confirm' in this.its.lock) await this.its.lock.confirm?.();
  }

  get lost() {
    return this.its.lock.lost;
  }

  get fencingToken() {
    return 'fencingToken' in this.its.lock ? this.its.lock.fencingToken : undefined;
  }

  get hasUnfencedReads() {
    return 'hasUnfencedReads' in this.its.lock && this.its.lock.hasUnfencedReads === true;
  }
}

/** True if a failed acquire may have taken the lock: it was sent and not refused. */
function mayHold({ lock }: Followed, error: unknown) {
  // Of several locks it may have been granted some before Redis went away, or began to refuse.
  if ('fencingTokenOf' in lock) return true;
  // A refusal that is only the cause of the error tells why the lock could not be given back.
  const isRefused = error instanceof Error && refusalOf(error) === error.message;
  return !(wasNeverSent(error) || isRefused);
}

/** Why the lock may still be held. Undefined if it was released, or was not ours. */
const failureOf = (lock: Pick<Lock, 'release'>): Promise<unknown> =>
  lock.release().then(
    () => undefined,
    (error: unknown) => (isStoreUnavailable(error) ? error : undefined),
  );

/**
 *
 * Logs when Redis starts to refuse releases, when it releases again, and each lock that was not released. NOPERM, NOAUTH and
 * WRONGPASS count as well: somebody may mend the permissions while the node runs, and until then a lock costs one command a
 * second.
 *
 */
function createRefusalLog(log: Pick<Logger, 'warn' | 'info'>) {
  /** How many locks Redis currently refuses to release. */
  let refused = 0;

  return {
    open(lock: string) {
      let isRefused = false;
      return {
        note(failure: unknown) {
          const refusal = refusalOf(failure);
          if (refusal === undefined || isRefused) return;
          isRefused = true;
          refused += 1;
          const why = `Redis refuses to release a lock, retrying: ${refusal}`;
          if (refused === 1) log.warn({ lock }, why);
        },
        /** `failure` is the last failure, undefined if the lock was released. */
        close(failure: unknown) {
          if (isRefused) refused -= 1;
          if (failure !== undefined) {
            const refusal = refusalOf(failure);
            const why = refusal ? `Redis refused ("${refusal}")` : 'no server replied';
            log.warn({ lock }, `a lock was not released: ${why} for the length of a lease`);
          } else if (isRefused && refused === 0) log.info({ lock }, 'Redis releases locks again');
        },
      };
    },
  };
}
