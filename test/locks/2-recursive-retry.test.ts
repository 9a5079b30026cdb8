import { expect, test } from 'vitest';
import { openLab } from './lab.ts';
import { measureTries } from './measure-tries.ts';

const lab = openLab();

test('2-recursive-retry: the lock is a key without an end that exists while it is held', async () => {
  const lock = lab.process('2-recursive-retry').lock();

  await lab.done(lock.acquire());

  expect([lab.redis('GET', 'lock'), lab.redis('PTTL', 'lock')]).toEqual(['held', -1]);
  await lab.done(lock.release());
  expect(lab.redis('EXISTS', 'lock')).toBe(0);
});

test('2-recursive-retry: a failed try waits, then tries again', async () => {
  const p = lab.process('2-recursive-retry');
  lab.redis('SET', 'lock', 'held');
  const entered = lab.follow(p.lock({ retryDelayMs: 50 }).acquire());

  await lab.advance(149);
  expect(p.sent).toEqual(['set', 'set', 'set']);
  lab.redis('DEL', 'lock');
  await lab.done(entered);

  expect([lab.now(), p.sent]).toEqual([150, ['set', 'set', 'set', 'set']]);
});

test('2-recursive-retry: every failed try stays in memory until the last one ends', async () => {
  const { bytesPerTry, bytesPerTryAfterwards } = await measureTries('2-recursive-retry');

  expect(bytesPerTry).toBeGreaterThan(100);
  expect(bytesPerTryAfterwards).toBeLessThan(20);
});
