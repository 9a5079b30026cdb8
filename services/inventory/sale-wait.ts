import { ProblemError } from './problem.ts';
import { ClientGoneError } from './sale-ending.ts';

/** The waits of this node for its locks, and what ends them. */
export function createSaleWaits() {
  const waits = new Set<AbortController>();

  return {
    /** Opens a wait: its signal aborts after `limitMs`, or when the client has gone, with the error to end with as its reason. */
    start(limitMs: number, clientGone?: AbortSignal) {
      const wait = new AbortController();
      const giveUp = () => wait.abort(new ClientGoneError('The client hung up while its sale waited.'));
      let timer: NodeJS.Timeout | undefined;
      begin();
      return { signal: wait.signal, end, beginAgain: begin };

      function begin() {
        waits.add(wait);
        timer = setTimeout(() => {
          const detail = `The lock was not free within ${limitMs} ms.`;
          wait.abort(new ProblemError('LOCK_WAIT_TIMEOUT', detail, { retryAfterMs: 1000 }));
        }, limitMs);
        if (clientGone?.aborted) giveUp();
        clientGone?.addEventListener('abort', giveUp, { once: true });
      }

      /** From now on nothing ends it, unless it begins again. */
      function end() {
        waits.delete(wait);
        clearTimeout(timer);
        clientGone?.removeEventListener('abort', giveUp);
      }
    },
    /** Ends all waits. */
    endAll(why: ProblemError) {
      for (const wait of waits) wait.abort(why);
    },
  };
}
