// When nothing went on at all: looked for again and again while a load runs.

import type { Span } from '../evidence/free-time.ts';
import { sharedClock, sleep } from './clock.ts';

/** How often it looks, in milliseconds. */
const LOOK_MS = 50;
/** What comes so much later is a standstill, in milliseconds. */
const LATE_MS = 50;

export interface Standstills {
  /** When this process, or what was asked, came to nothing. They do not overlap. */
  spans: Span[];
  /** How often it has asked. */
  readonly looks: number;
  /** Resolves when the last look has its answer. */
  close(): Promise<void>;
}

/** Asks again and again until it is closed. An error is an answer. */
export function watchStandstills(ask: () => Promise<unknown>): Standstills {
  const spans: Span[] = [];
  let looks = 0;
  let isClosed = false;

  async function watch() {
    while (!isClosed) {
      const from = sharedClock();
      looks += 1;
      await ask().catch(() => {});
      await sleep(LOOK_MS);
      const until = sharedClock();
      if (until - from > LOOK_MS + LATE_MS) spans.push({ from, until });
    }
  }

  const ended = watch();
  return {
    spans,
    get looks() {
      return looks;
    },
    close() {
      isClosed = true;
      return ended;
    },
  };
}
