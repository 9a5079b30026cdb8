// The sales of free play: single sales have a letter; a rush has many sales.

import { sendSales } from '../../../loadtest/harness/sales.ts';
import type { Target } from '../../../loadtest/harness/target.ts';

/** The sales of a rush. */
export const RUSH = 200;
const CONNECTIONS = 20;
/** The time limit for a request of a rush, in milliseconds: longer than a sale waits for its lock. */
const REQUEST_LIMIT_MS = 30_000;

export type Sales = ReturnType<typeof createSales>;

export function createSales(target: Target, signal: AbortSignal) {
  const rushes = new Set<Promise<unknown>>();
  /** How many sales have a letter. */
  let letters = 0;
  return {
    /** The letter of the next sale. After Z the letters start over, and no lane is drawn. */
    nextLetter() {
      letters += 1;
      return String.fromCharCode('A'.charCodeAt(0) + ((letters - 1) % 26));
    },
    rush() {
      const load = { url: target.url, requests: RUSH, connections: CONNECTIONS, requestLimitMs: REQUEST_LIMIT_MS };
      const rush = sendSales(target, { ...load, signal, onAnswer() {} }).finally(() => rushes.delete(rush));
      rushes.add(rush);
    },
    /** Resolves when every rush has ended. */
    rushesEnded: () => Promise.allSettled([...rushes]),
  };
}
