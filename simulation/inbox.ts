// The inbox of a process: messages wait until the process can take them, in the order of their arrival.

import type { Schedule } from './schedule.ts';

export interface InboxOptions {
  schedule: Schedule;
  /** For how long the process takes nothing, in milliseconds: `Infinity` while it is stopped. */
  waitMs(): number;
  take(what: () => void): void;
}

export function createInbox({ schedule, waitMs, take }: InboxOptions) {
  const came: (() => void)[] = [];

  /** Takes what came first, if it can, or looks again when it can. */
  function look() {
    const ms = waitMs();
    if (ms === Number.POSITIVE_INFINITY) return;
    if (ms > 0) return schedule.after(ms, look);
    const first = came.shift();
    if (first) take(first);
  }

  return {
    put(what: () => void) {
      came.push(what);
      look();
    },
    /** The process was paused, and resumes. */
    resume() {
      for (const _ of came) schedule.after(0, look);
    },
    clear() {
      came.length = 0;
    },
  };
}
