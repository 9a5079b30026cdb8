/** Resolves with `promise`. Rejects with AbortError when `signal` aborts first, or has aborted already; what comes late is given back. */
export function abortable<T>(
  promise: T | PromiseLike<T>,
  signal?: AbortSignal,
  giveBack: (late: T) => unknown = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    function giveUp() {
      reject(abortError(signal));
      Promise.resolve(promise)
        .then(giveBack)
        .catch(() => {});
    }

    if (signal?.aborted) return giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', giveUp));
  });
}

/** Throws AbortError when `signal` has aborted. */
export function throwIfAborted(signal?: AbortSignal) {
  if (signal?.aborted) throw abortError(signal);
}

/** The error that `timers/promises` rejects with, so that every stage rejects alike. */
export function abortError(signal?: AbortSignal) {
  return Object.assign(new Error('The wait was aborted.', { cause: signal?.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}
