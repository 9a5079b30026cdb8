import type { ServerResponse } from 'node:http';
import { ProblemError } from './problem.ts';
import { ClientGoneError } from './sale-ending.ts';

/** Who waits for an answer and may hang up: the answer itself. Its `close` without an answer is the hanging up. */
export type Client = Pick<ServerResponse, 'destroyed' | 'on' | 'off'> & { locals?: { requestId?: string } };

/** The waits of this node for its locks, and what ends them. */
export function createSaleWaits() {
  const waits = new Set<AbortController>();

  return {
    /** Opens a wait: its signal aborts `limitMs` from now unless it has ended, or when the client hangs up. Its reason is the error to end with. */
    start(limitMs: number, client?: Client) {
      const wait = new AbortController();
      const giveUp = () => wait.abort(new ClientGoneError('The client hung up while its sale waited.'));
      const until = performance.now() + limitMs;
      let timer: NodeJS.Timeout | undefined;
      begin();
      return { signal: wait.signal, end, beginAgain: begin };

      function begin() {
        waits.add(wait);
        timer = setTimeout(() => {
          wait.abort(new ProblemError('LOCK_WAIT_TIMEOUT', `The lock was not free within ${limitMs} ms.`));
        }, until - performance.now());
        if (client?.destroyed) giveUp();
        client?.on('close', giveUp);
      }

      /** From now on nothing ends it, unless it begins again. */
      function end() {
        waits.delete(wait);
        clearTimeout(timer);
        client?.off('close', giveUp);
      }
    },
    /** Ends all waits. */
    endAll(why: ProblemError) {
      for (const wait of waits) wait.abort(why);
    },
  };
}
