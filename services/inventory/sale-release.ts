import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../locks/lock.ts';
import { isStoreUnavailable } from './away-server.ts';
import type { Progress } from './sale-ending.ts';
import { type Store, wasNeverSent } from './store.ts';

/** How long to wait after Redis left a release unanswered, in milliseconds. */
const RELEASE_RETRY_DELAY_MS = 50;

/** The locks that this node may hold without knowing it, because Redis did not answer. */
export function createReleases(store: Store) {
  const unreleased = new Set<Promise<void>>();

  /**
   * Keeps a lock that nobody knows of from blocking everyone until its lease ends. Stages 2 to 4 cannot tell whose lock
   * they delete, so here, too, they may delete that of another holder.
   */
  function releaseWhenBack(lock: Pick<Lock, 'release'>) {
    const released = tryUntilAnswered().finally(() => unreleased.delete(released));
    unreleased.add(released);

    async function tryUntilAnswered() {
      await store.back();
      while (!(await isReleaseAnswered())) {
        await sleep(RELEASE_RETRY_DELAY_MS);
        await store.back();
      }
    }

    // An answer that nothing was held is an answer, too.
    const isReleaseAnswered = () =>
      lock.release().then(
        () => true,
        (error) => !isStoreUnavailable(error),
      );
  }

  return {
    /** After a failure: when Redis did not answer, the node may hold the lock, unless it never asked for it. */
    giveUpUnanswered(lock: Lock | undefined, error: unknown, { reached }: Progress) {
      const mayHold = reached.has('entered') ? !reached.has('released') : !wasNeverSent(error);
      if (lock && isStoreUnavailable(error) && mayHold) releaseWhenBack(lock);
    },
    /** After a failure with several locks: it may hold those that it was granted before Redis went away. */
    giveUpAllUnanswered(locks: Pick<Lock, 'release'> | undefined, error: unknown, { reached }: Progress) {
      if (locks && isStoreUnavailable(error) && !reached.has('released')) releaseWhenBack(locks);
    },
    count: () => unreleased.size,
    /** Resolves when no lock is left that Redis has not answered about. */
    async ended() {
      await Promise.all(unreleased);
    },
  };
}
