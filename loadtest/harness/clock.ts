// The clock of a target: a drill waits and measures by it. Each world has one.
// And what looks at it again and again: for a step that has happened, and for standstills.

import type { Span } from '../evidence/free-time.ts';

/** A timer that has not fired, opaque to everything but its clock. */
export type Timer = unknown;

export interface Clock {
  /** Milliseconds on the monotonic clock that all processes of this host share: the clock of the nodes' events. */
  now(): number;
  /** Milliseconds since 1970, as the servers of this host count them. */
  wallTime(): number;
  /** Resolves with the value after so many milliseconds. Rejects with AbortError when the signal aborts first. */
  sleep<T = void>(ms: number, value?: T, options?: { ref?: boolean; signal?: AbortSignal }): Promise<T>;
  startTimer(fire: () => void, ms: number): Timer;
  stopTimer(timer: Timer): void;
}

/** How often the harness checks whether a step has happened, in milliseconds. */
const POLL_MS = 20;

/** Polls until `look` finds something. Resolves with undefined after `limitMs`. */
export async function poll<T>(
  clock: Clock,
  limitMs: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = clock.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || clock.now() > deadline) return found;
    await clock.sleep(POLL_MS);
  }
}

/** How often the harness checks for a standstill, in milliseconds. */
const LOOK_MS = 50;
/** From how much delay on it is a standstill, in milliseconds. */
const LATE_MS = 50;

/** Polls until it is closed. An error counts as an answer. */
export function watchStandstills(clock: Clock, ask: () => Promise<unknown>) {
  const spans: Span[] = [];
  let looks = 0;
  let isClosed = false;

  async function watch() {
    while (!isClosed) {
      const from = clock.now();
      looks += 1;
      await ask().catch(() => {});
      await clock.sleep(LOOK_MS);
      const until = clock.now();
      if (until - from > LOOK_MS + LATE_MS) spans.push({ from, until });
    }
  }

  const ended = watch();
  return {
    /** When this process, or what was asked, came to nothing. They do not overlap. */
    spans,
    /** How often it has asked. */
    get looks() {
      return looks;
    },
    /** Resolves when the last look has its answer. */
    close() {
      isClosed = true;
      return ended;
    },
  };
}
