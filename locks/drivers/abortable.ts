/** Resolves with `promise`. Rejects with AbortError when `signal` aborts first, or has aborted already. */
export function abortable<T>(promise: T | PromiseLike<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal));
    const onAbort = () => reject(abortError(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', onAbort));
  });
}

/** The error that `timers/promises` rejects with, so that every stage rejects alike. */
export function abortError(signal?: AbortSignal) {
  return Object.assign(new Error('The wait was aborted.', { cause: signal?.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}
