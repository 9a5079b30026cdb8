// The local queue: the waiters of one process for one lock, of which only the first asks Redis.

import type { RedisClient } from '../lock.ts';
import { abortable } from './abortable.ts';
import { listen } from './channels.ts';

/** The waiters of this process for one lock, the longest waiting first. Only that one tries, the others cost Redis nothing. */
interface Line {
  /** What wakes each waiter. */
  waiters: (() => void)[];
  /** True when the lock may have become free since the last try. */
  hasNews: boolean;
  /** Stops listening to the releases. */
  stop?: () => void;
  leaseEnd?: NodeJS.Timeout;
}

export interface Place {
  redis: RedisClient;
  /** Where the releases of the lock are published. */
  channel: string;
  /** How long the lease of this waiter lasts once it is granted, in milliseconds. */
  leaseMs: number;
  /** Resolves with 1 or more when the lock is ours now, else with minus the milliseconds that the holder's lease still lasts. */
  tryOnce: () => Promise<number>;
  signal?: AbortSignal | undefined;
}

const linesOf = new WeakMap<RedisClient, Map<string, Line>>();

/** Resolves when `tryOnce` got the lock. Rejects with AbortError when `signal` aborts first, and as `tryOnce` does. */
export async function waitInLocalQueue({ redis, channel, leaseMs, tryOnce, signal }: Place): Promise<void> {
  const lines = linesOf.get(redis) ?? new Map<string, Line>();
  linesOf.set(redis, lines);
  const line = lines.get(channel) ?? { waiters: [], hasNews: true };
  lines.set(channel, line);
  let wake = () => {};
  const waiter = () => wake();
  line.waiters.push(waiter);

  function notice() {
    line.hasNews = true;
    line.waiters[0]?.();
  }

  async function tryNow() {
    line.hasNews = false;
    // Whoever is next finds out for itself whether Redis is there.
    const answer = await tryOnce().catch((error) => {
      line.hasNews = true;
      throw error;
    });
    clearTimeout(line.leaseEnd);
    line.leaseEnd = setTimeout(notice, answer > 0 ? leaseMs : -answer);
    return answer > 0;
  }

  try {
    let isOurs = false;
    while (!isOurs) {
      if (line.waiters[0] === waiter && line.hasNews) {
        isOurs = await tryNow();
      } else if (line.stop === undefined) {
        // When this begins to hear, it tells: a release before that was not heard.
        line.stop = listen(redis, channel, notice);
      } else {
        await abortable(new Promise<void>((resolve) => (wake = resolve)), signal);
      }
    }
  } finally {
    line.waiters.splice(line.waiters.indexOf(waiter), 1);
    if (line.waiters.length === 0) {
      lines.delete(channel);
      line.stop?.();
      clearTimeout(line.leaseEnd);
    } else if (line.hasNews) {
      line.waiters[0]?.();
    }
  }
}
