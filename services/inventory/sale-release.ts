import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Lock, MultiLock } from '../../locks/lock.ts';
import { isStoreUnavailable, refusalOf } from './away-server.ts';
import type { Progress } from './sale-ending.ts';
import { type Store, wasNeverSent } from './store.ts';

/** How long to wait after a server left a release unanswered, in milliseconds: each time twice as long. */
const RETRY_DELAY_MS = { first: 50, longest: 1_000 };

export type Releases = ReturnType<typeof createReleases>;

/**
 * The locks that this node may hold without knowing it, because a server did not answer. `leaseMs` is how long a lease lasts now, in
 * milliseconds.
 */
export function createReleases(
  store: Pick<Store, 'back'>,
  leaseMs: () => number,
  retries: { inc(): void },
  log: Pick<Logger, 'warn'>,
) {
  const unreleased = new Set<Promise<void>>();

  /**
   * Tries for one lease from when Redis is back: a lock that was granted before has ended by then. Stages 2 to 4 cannot tell whose lock they
   * delete, so here, too, they may delete that of another holder.
   */
  async function tryUntilAnswered(lock: Pick<Lock, 'release'>) {
    await store.back();
    const endsAt = performance.now() + leaseMs();
    let delayMs = RETRY_DELAY_MS.first;
    while (!(await isReleaseAnswered(lock))) {
      if (performance.now() >= endsAt) return log.warn('a lock was not given up: no server has answered for a lease');
      retries.inc();
      await sleep(delayMs);
      delayMs = Math.min(2 * delayMs, RETRY_DELAY_MS.longest);
      await store.back();
    }
  }

  return {
    /**
     * After a failure: when a server did not answer, the node may hold the lock, unless it never asked for it. Of several locks
     * it may have been granted some before Redis went away.
     */
    giveUpUnanswered(lock: Lock | MultiLock | undefined, error: unknown, { reached }: Progress) {
      if (lock === undefined || !isUnanswered(error) || reached.has('released')) return;
      const mayHold = reached.has('entered') || 'fencingTokenOf' in lock || !wasNeverSent(error);
      if (!mayHold) return;
      const released = tryUntilAnswered(lock).finally(() => unreleased.delete(released));
      unreleased.add(released);
    },
    count: () => unreleased.size,
    /** Resolves when no lock is left that no server has answered about. */
    async ended() {
      await Promise.all(unreleased);
    },
  };
}

/** An answer that nothing was held is an answer, too, and so is a refusal. */
const isReleaseAnswered = async (lock: Pick<Lock, 'release'>) =>
  !isUnanswered(await lock.release().catch((error: unknown) => error));

const isUnanswered = (error: unknown) => isStoreUnavailable(error) && refusalOf(error) === undefined;
