// The clock of the harness. What a drill waits for and measures goes by it, so that it can be another than that of the machine.

import { setTimeout as sleepReally } from 'node:timers/promises';

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
