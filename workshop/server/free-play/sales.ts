// The sales of free play: single ones have a letter, and there are rushes of many.

import { sendSales } from '../../../loadtest/harness/sales.ts';
import type { Target } from '../../../loadtest/harness/target.ts';

/** The sales of a rush. */
export const RUSH = 200;
const CONNECTIONS = 20;
/** How long a request of a rush may take, in milliseconds: longer than a sale waits for its lock. */
const REQUEST_LIMIT_MS = 30_000;

export type Sales = ReturnType<typeof createSales>;

export function createSales(target: Target, signal: AbortSignal) {
  const rushes = new Set<Promise<unknown>>();
  /** How many sales have a letter. */
  let letters = 0;
  return {
    /** Of the sale that comes next. After Z they begin anew, and no lane is drawn. */
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
