// Watches whether this process and Redis come to their turns: what was measured meanwhile may be wrong when they do not.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** How often it looks, in milliseconds. */
const LOOK_MS = 10;

export interface Turns {
  /** How late an answer of Redis came at worst since then, by `performance.now()`, in milliseconds. */
  standstillMs(since: number): number;
  close(): Promise<void>;
}

/** Asks Redis again and again. */
export function watchTurns(redis: Redis): Turns {
  const standstills: { at: number; lateMs: number }[] = [];
  let isClosed = false;
  let answeredAt = performance.now();

  async function watch() {
    while (!isClosed) {
      await sleep(LOOK_MS);
      await redis.ping().catch(() => {});
      const at = performance.now();
      const lateMs = at - answeredAt - LOOK_MS;
      answeredAt = at;
      if (lateMs > LOOK_MS) standstills.push({ at, lateMs });
    }
  }

  const ended = watch();
  return {
    standstillMs: (since) =>
      Math.max(
        performance.now() - answeredAt - LOOK_MS,
        0,
        ...standstills.filter(({ at }) => at >= since).map(({ lateMs }) => lateMs),
      ),
    async close() {
      isClosed = true;
      await ended;
    },
  };
}
