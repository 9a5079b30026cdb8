import { getEventListeners } from 'node:events';
import timers from 'node:timers/promises';
import { expect, test } from 'vitest';
import { abortable } from '../../../locks/drivers/abortable.ts';

const never = new Promise<never>(() => {});

test('abortable: settles as the promise does, and leaves no listener', async () => {
  const { signal } = new AbortController();
  const error = new Error('The promise was rejected.');

  expect(await abortable(Promise.resolve(1), signal)).toBe(1);
  await expect(abortable(Promise.reject(error), signal)).rejects.toBe(error);

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('abortable: rejects as a wait of timers/promises does', async () => {
  const reason = new Error('The client has gone.');
  const before = AbortSignal.abort(reason);
  const during = new AbortController();
  const waits = [
    timers.setTimeout(60_000, undefined, { signal: before }),
    timers.setTimeout(60_000, undefined, { signal: during.signal }),
    abortable(never, before),
    abortable(never, during.signal),
  ];

  const errors = waits.map((wait) => wait.catch(({ name, code, cause }) => ({ name, code, cause })));
  during.abort(reason);

  const alike = { name: 'AbortError', code: 'ABORT_ERR', cause: reason };
  expect(await Promise.all(errors)).toEqual([alike, alike, alike, alike]);
  expect(getEventListeners(during.signal, 'abort')).toEqual([]);
});
