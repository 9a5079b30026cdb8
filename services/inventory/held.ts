/** What a drill holds in the middle of its work: each waits until all are resumed, or until the node stops. */
export function createHeld() {
  let isEnding = false;
  let held: (() => void)[] = [];

  function resume() {
    for (const resolve of held) resolve();
    held = [];
  }

  return {
    /** Resolves with the next `resume`, at once after `end`. */
    async untilResumed() {
      if (!isEnding) await new Promise<void>((resolve) => held.push(resolve));
    },
    resume,
    /** For a node that stops: nothing is held any more. */
    end() {
      isEnding = true;
      resume();
    },
    isEnding: () => isEnding,
    count: () => held.length,
  };
}
