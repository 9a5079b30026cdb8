import { expect, test } from 'vitest';
import { once, openLab } from './lab.ts';

const lab = openLab();

test('0-none: two requests read the same stock and both sell it', async () => {
  const [a, b] = lab.processes('0-none', 2).map((p) => p.lock());
  lab.redis('SET', 'stock', 100);

  await lab.done(Promise.all([a?.acquire(), b?.acquire()]), 0);
  const [readByA, readByB] = [Number(lab.redis('GET', 'stock')), Number(lab.redis('GET', 'stock'))];
  lab.redis('SET', 'stock', readByA - 1);
  lab.redis('SET', 'stock', readByB - 1);
  await lab.done(Promise.all([a?.release(), b?.release()]), 0);

  expect(lab.redis('GET', 'stock')).toBe('99');
});

test('0-none: nobody waits, no release is refused, and Redis is not asked', async () => {
  const p = lab.process('0-none');
  const lock = p.lock();

  for (const signal of [undefined, once]) await lab.done(lock.acquire(signal), 0);
  for (const _time of [1, 2, 3]) await lab.done(lock.release(), 0);

  expect(p.sent).toEqual([]);
});
