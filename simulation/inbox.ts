// What comes to a process waits until that can take it, and is taken in the order in which it came.

import type { Schedule } from './schedule.ts';

export interface InboxOptions {
  schedule: Schedule;
  /** For how long the process takes nothing, in milliseconds: `Infinity` while it is stopped. */
  waitMs(): number;
  take(what: () => void): void;
}

export function createInbox({ schedule, waitMs, take }: InboxOptions) {
  let came: (() => void)[] = [];
  let isLooking = false;

  function lookIn(ms: number) {
    isLooking = true;
    schedule.after(ms, () => {
      isLooking = false;
      look();
    });
  }

  function look() {
    const ms = waitMs();
    if (isLooking || came.length === 0 || ms === Number.POSITIVE_INFINITY) return;
    if (ms > 0) return lookIn(ms);
    const [first, ...later] = came;
    came = later;
    if (later.length > 0) lookIn(0);
    if (first) take(first);
  }

  return {
    put(what: () => void) {
      came.push(what);
      look();
    },
    /** The process was stopped, and goes on. */
    resume: () => lookIn(0),
    clear() {
      came = [];
    },
  };
}
