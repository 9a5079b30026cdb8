import { expect, test } from 'vitest';
import { adapt, enter, type Library } from '../../../loadtest/peers/adapter.ts';
import type { LockOptions } from '../../../locks/lock.ts';

/** A library whose holds are granted by hand, one after the other. */
function openLibrary(more: Partial<Library<string>> = {}) {
  const waiters: ((held: string) => void)[] = [];
  const released: string[] = [];
  const library: Library<string> = {
    wait: () => new Promise((resolve) => waiters.push(resolve)),
    tryOnce: async () => undefined,
    async release(held) {
      released.push(held);
    },
    ...more,
  };
  const lock = adapt(() => library)({ key: 'the-lock' } as LockOptions);
  return { lock, released, grant: (held: string) => waiters.shift()?.(held) };
}

test('adapter: several holds of one object are released one by one, the last one first', async () => {
  const { lock, released, grant } = openLibrary();
  const first = lock.acquire();
  grant('first');
  await first;
  const second = lock.acquire();
  grant('second');
  await second;

  await lock.release();
  expect(released).toEqual(['second']);
  await lock.release();
  expect(released).toEqual(['second', 'first']);
  await expect(lock.release()).rejects.toMatchObject({ code: 'LOCK_NOT_HELD' });
});

test('adapter: a wait that is cancelled rejects at once, and what is granted later is released', async () => {
  const { lock, released, grant } = openLibrary();
  const patience = new AbortController();
  const waited = lock.acquire(patience.signal);
  patience.abort('enough');

  await expect(waited).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
  grant('late');
  await expect.poll(() => released).toEqual(['late']);
  await expect(lock.release()).rejects.toMatchObject({ code: 'LOCK_NOT_HELD' });
});

test('adapter: one try asks once, and never waits; of a hold that the library has lost release rejects', async () => {
  const wait = () => Promise.reject(new Error('It waits.'));
  const taken = openLibrary({ wait });
  await expect(taken.lock.acquire(AbortSignal.abort('now'))).rejects.toMatchObject({
    name: 'AbortError',
    cause: 'now',
  });

  const free = openLibrary({ wait, tryOnce: async () => 'mine' });
  await free.lock.acquire(AbortSignal.abort());
  await free.lock.release();
  expect(free.released).toEqual(['mine']);

  const lost = openLibrary({ wait, tryOnce: async () => 'mine', release: async () => false });
  await lost.lock.acquire(AbortSignal.abort());
  await expect(lost.lock.release()).rejects.toMatchObject({ code: 'LOCK_NOT_HELD' });
});

test('adapter: the token and the loss are those of the last hold', async () => {
  const { signal } = new AbortController();
  const { lock } = openLibrary({ tryOnce: async () => '7', fencingToken: (held) => held, lost: () => signal });
  expect([lock.fencingToken, lock.lost]).toEqual([undefined, undefined]);
  await lock.acquire(AbortSignal.abort());
  expect([lock.fencingToken, lock.lost]).toEqual(['7', signal]);
});

test('adapter: a library that runs a function under its lock: it is inside until it leaves, and left when the library has released', async () => {
  const steps: string[] = [];
  const lost = new AbortController();
  const held = await enter(
    async (inside) => {
      steps.push('granted');
      await inside(lost.signal);
      steps.push('released');
    },
    () => steps.push('lost'),
  );
  expect([...steps, held.lost]).toEqual(['granted', lost.signal]);

  held.leave();
  await held.left;
  // A library may go on extending what is given up.
  lost.abort();
  expect(steps).toEqual(['granted', 'released']);
});

test('adapter: a library that runs a function under its lock: the holder hears of a loss, and a refusal rejects', async () => {
  const lost = new AbortController();
  const heard: string[] = [];
  await enter(
    (inside) => inside(lost.signal),
    () => heard.push('lost'),
  );
  lost.abort();
  expect(heard).toEqual(['lost']);

  await expect(enter(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
});
