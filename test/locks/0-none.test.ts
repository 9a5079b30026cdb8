import { expect, test } from 'vitest';
import { once, openLab } from './lab.ts';

const lab = openLab();

test('0-none: nobody waits, no release is refused, and Redis is not asked', async () => {
  const p = lab.process('0-none');
  const lock = p.lock();

  for (const signal of [undefined, once]) await lab.done(lock.acquire(signal), 0);
  for (const _time of [1, 2, 3]) await lab.done(lock.release(), 0);

  expect(p.sent).toEqual([]);
});
