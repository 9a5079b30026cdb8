import { setTimeout as sleep } from 'node:timers/promises';

/** Work that a drill holds: each piece waits until all are resumed, until its pause is over, or until the node stops. */
export function createHeld() {
  let isEnding = false;
  let held: (() => void)[] = [];
  /** One per pause: a shared signal would warn about too many listeners. */
  const pauses = new Set<AbortController>();

  function resume() {
    for (const resolve of held) resolve();
    held = [];
  }

  return {
    /** Resolves at the next `resume`, or at once after `end`. */
    async untilResumed() {
      if (!isEnding) await new Promise<void>((resolve) => held.push(resolve));
    },
    /** Resolves after the pause, in milliseconds, or at once after `end`. `resume` does not shorten it. */
    async pause(ms: number) {
      if (isEnding) return;
      const pause = new AbortController();
      pauses.add(pause);
      await sleep(ms, undefined, { signal: pause.signal }).catch(() => {});
      pauses.delete(pause);
    },
    resume,
    /** For a stopping node: nothing is held or paused any more. */
    end() {
      isEnding = true;
      resume();
      for (const pause of pauses) pause.abort();
    },
    isEnding: () => isEnding,
    count: () => held.length,
  };
}
