import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Lock, MultiLock } from '../../locks/lock.ts';
import { isStoreUnavailable, refusalOf } from './away-server.ts';
import type { SaleStep } from './sale.ts';
import { type Store, wasNeverSent } from './store.ts';

/** How long to wait after a server left a release unanswered, in milliseconds: each time twice as long. */
const RETRY_DELAY_MS = { first: 50, longest: 1_000 };

export type Releases = ReturnType<typeof createReleases>;

/** The locks that this node may hold without knowing it, because a server did not answer. `leaseMs` is the lease now. */
export function createReleases(
  store: Pick<Store, 'back'>,
  leaseMs: () => number,
  retries: { inc(): void },
  log: Pick<Logger, 'warn'>,
) {
  const unreleased = new Set<Promise<void>>();

  /**
   * Tries for one lease from when Redis is back: a lock that was granted before has ended by
   * then. Stages 2 to 4 can't tell whose lock they delete: it may be that of another holder.
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
    /** After a failure: a lock that a server did not answer about may be held, unless it was never asked for. */
    giveUpUnanswered(lock: Lock | MultiLock | undefined, error: unknown, reached: ReadonlyMap<SaleStep, unknown>) {
      if (lock === undefined || !isUnanswered(error) || reached.has('released')) return;
      // Of several locks it may have been granted some before Redis went away.
      const mayHold = reached.has('entered') || 'fencingTokenOf' in lock || !wasNeverSent(error);
      if (!mayHold) return;
      const released = tryUntilAnswered(lock).finally(() => unreleased.delete(released));
      unreleased.add(released);
    },
    count: () => unreleased.size,
    ended: () => Promise.all(unreleased),
  };
}

/** An answer that nothing was held is an answer, too, and so is a refusal. */
const isReleaseAnswered = async (lock: Pick<Lock, 'release'>) =>
  !isUnanswered(await lock.release().catch((error: unknown) => error));

const isUnanswered = (error: unknown) => isStoreUnavailable(error) && refusalOf(error) === undefined;
