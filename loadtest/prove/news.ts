// Waits for what others tell: a link, a process, a server.

import { EventEmitter } from 'node:events';

export type News = ReturnType<typeof createNews>;

/** From the abort of `signal` on, every wait is rejected with its reason. */
export function createNews(signal?: AbortSignal) {
  const emitter = new EventEmitter();
  let failure: { error: unknown } | undefined;

  function fail(error: unknown) {
    failure ??= { error };
    emitter.emit('news');
  }

  const onAbort = () => fail(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();

  function next(limitMs: number) {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(end, limitMs);
      function end() {
        clearTimeout(timer);
        emitter.off('news', end);
        resolve();
      }
      emitter.once('news', end);
    });
  }

  return {
    /** Something has changed: every wait looks again. */
    tell: () => void emitter.emit('news'),
    /** Every wait, now or later, is rejected with this error; the first one counts. */
    fail,
    /** Looks whenever something has changed, until there is something. Resolves with undefined when `limitMs` has passed. */
    async until<T>(look: () => T | undefined, limitMs: number): Promise<T | undefined> {
      const deadline = performance.now() + limitMs;
      for (;;) {
        if (failure) throw failure.error;
        const found = look();
        const leftMs = deadline - performance.now();
        if (found !== undefined || leftMs <= 0) return found;
        await next(Math.ceil(leftMs));
      }
    },
    /** Nobody is told of `signal` any more. */
    close: () => signal?.removeEventListener('abort', onAbort),
  };
}
