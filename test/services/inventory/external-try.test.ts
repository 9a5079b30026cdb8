import { expect, test, vi } from 'vitest';
import { abortError } from '../../../locks/drivers/abortable.ts';
import type { LockOptions } from '../../../locks/lock.ts';
import { supervised } from '../../../services/inventory/external-lock.ts';

test.each([
  ['that is free', async () => {}, 'has it'],
  ['that is held', async (signal?: AbortSignal) => Promise.reject(abortError(signal)), 'AbortError'],
])('an external lock %s is tried once when the signal is aborted already', async (_which, tryOnce, expected) => {
  const acquire = vi.fn(tryOnce);
  const lock = supervised(() => ({ acquire, async release() {} }))({} as LockOptions);

  const ended = lock.acquire(AbortSignal.abort()).then(
    () => 'has it',
    ({ name }) => name,
  );

  expect([await ended, acquire.mock.calls.length]).toEqual([expected, 1]);
});
