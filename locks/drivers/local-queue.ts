// The local queue: one process's waiters for one lock. Only the first of them asks Redis.

import type { RedisClient } from '../lock.ts';
import { abortable } from './abortable.ts';
import { listen } from './channels.ts';

/** The longest-waiting request is first. Only it tries; the others cost Redis nothing. */
interface LocalQueue {
  waiters: (() => void)[];
  /** True if the lock may have become free since the last try. */
  hasNews: boolean;
  stop?: () => void;
  leaseEnd?: NodeJS.Timeout;
}

export interface Place {
  redis: RedisClient;
  channel: string;
  /** How long this waiter's lease lasts once granted, in milliseconds. */
  leaseMs: number;
  /** Resolves with 1 or more if the lock is now ours, else with the rest of the holder's lease in milliseconds, negative. */
  tryOnce: () => Promise<number>;
  signal?: AbortSignal | undefined;
}

const queuesOf = new WeakMap<RedisClient, Map<string, LocalQueue>>();

/** Resolves once `tryOnce` has got the lock. Rejects with AbortError if `signal` aborts first, and if `tryOnce` rejects. */
export async function waitInLocalQueue({ redis, channel, leaseMs, tryOnce, signal }: Place): Promise<void> {
  const queues = queuesOf.get(redis) ?? new Map<string, LocalQueue>();
  queuesOf.set(redis, queues);
  const queue = queues.get(channel) ?? { waiters: [], hasNews: true };
  queues.set(channel, queue);
  let wake = () => {};
  const waiter = () => wake();
  queue.waiters.push(waiter);

  function notice() {
    queue.hasNews = true;
    queue.waiters[0]?.();
  }

  async function tryNow() {
    queue.hasNews = false;
    // The next waiter finds out for itself whether Redis is available.
    const answer = await tryOnce().catch((error) => {
      queue.hasNews = true;
      throw error;
    });
    clearTimeout(queue.leaseEnd);
    queue.leaseEnd = setTimeout(notice, answer > 0 ? leaseMs : -answer);
    return answer > 0;
  }

  try {
    let isOurs = false;
    while (!isOurs) {
      if (queue.waiters[0] === waiter && queue.hasNews) {
        isOurs = await tryNow();
      } else if (queue.stop === undefined) {
        // listen() also calls notice once it is subscribed: a release before that was missed.
        queue.stop = listen(redis, channel, notice);
      } else {
        await abortable(new Promise<void>((resolve) => (wake = resolve)), signal);
      }
    }
  } finally {
    queue.waiters.splice(queue.waiters.indexOf(waiter), 1);
    if (queue.waiters.length === 0) {
      queues.delete(channel);
      queue.stop?.();
      clearTimeout(queue.leaseEnd);
    } else if (queue.hasNews) {
      queue.waiters[0]?.();
    }
  }
}
