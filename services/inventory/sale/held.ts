import { setTimeout as sleep } from 'node:timers/promises';

/** What a drill holds in the middle of its work: each waits until all are resumed, or for its pause, or until the node stops. */
export function createHeld() {
  let isEnding = false;
  let held: (() => void)[] = [];
  /** One for each pause: a signal that all shared would warn of too many listeners. */
  const pauses = new Set<AbortController>();

  function resume() {
    for (const resolve of held) resolve();
    held = [];
  }

  return {
    /** Resolves with the next `resume`, at once after `end`. */
    async untilResumed() {
      if (!isEnding) await new Promise<void>((resolve) => held.push(resolve));
    },
    /** Resolves after so many milliseconds, at once after `end`. No `resume` shortens it. */
    async pause(ms: number) {
      if (isEnding) return;
      const pause = new AbortController();
      pauses.add(pause);
      await sleep(ms, undefined, { signal: pause.signal }).catch(() => {});
      pauses.delete(pause);
    },
    resume,
    /** For a node that stops: nothing is held or paused any more. */
    end() {
      isEnding = true;
      resume();
      for (const pause of pauses) pause.abort();
    },
    isEnding: () => isEnding,
    count: () => held.length,
  };
}
