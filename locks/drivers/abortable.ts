/** Resolves with `promise`. Rejects with AbortError if `signal` aborts first; a result that arrives later goes to `giveBack`. */
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

/** Throws AbortError if `signal` has aborted. */
export function throwIfAborted(signal?: AbortSignal) {
  if (signal?.aborted) throw abortError(signal);
}

/** The same error as that of `timers/promises`, so that every stage rejects in the same way. */
export function abortError(signal?: AbortSignal) {
  return Object.assign(new Error('The wait was aborted.', { cause: signal?.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}
