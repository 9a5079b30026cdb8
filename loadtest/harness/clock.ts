// The clock of the harness. What a drill waits for and measures goes by it, so that it can be another than that of the machine.
// And what looks at it again and again: for a step that has happened, and for standstills.

import { setTimeout as sleepReally } from 'node:timers/promises';
import type { Span } from '../evidence/free-time.ts';

/** A timer that has not fired; only its clock knows what it is. */
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

const ofMachine: Clock = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  wallTime: Date.now,
  sleep: sleepReally,
  startTimer: setTimeout,
  stopTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

let clock = ofMachine;

/** From here on the harness goes by this clock, until what is returned is called. Only one drill may run meanwhile. */
export function goBy(another: Clock): () => void {
  if (clock !== ofMachine) throw new Error('The harness goes by another clock already.');
  clock = another;
  return () => {
    clock = ofMachine;
  };
}

export const sharedClock = () => clock.now();
export const wallClock = () => clock.wallTime();
export const sleep: Clock['sleep'] = (ms, value, options) => clock.sleep(ms, value, options);
export const startTimer: Clock['startTimer'] = (fire, ms) => clock.startTimer(fire, ms);
export const stopTimer: Clock['stopTimer'] = (timer) => clock.stopTimer(timer);

/** How often the harness looks whether a step has happened, in milliseconds. */
const POLL_MS = 20;

/** Looks again and again until `look` finds something. Resolves with undefined when `limitMs` has passed. */
export async function poll<T>(look: () => Promise<T | undefined>, limitMs: number): Promise<T | undefined> {
  const deadline = sharedClock() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || sharedClock() > deadline) return found;
    await sleep(POLL_MS);
  }
}

/** How often a standstill is looked for, in milliseconds. */
const LOOK_MS = 50;
/** What comes so much later is a standstill, in milliseconds. */
const LATE_MS = 50;

/** Asks again and again until it is closed. An error is an answer. */
export function watchStandstills(ask: () => Promise<unknown>) {
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
