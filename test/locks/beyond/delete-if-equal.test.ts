import { expect, test } from 'vitest';
import { openLab } from '../lab.ts';

const lab = openLab();

test('delete-if-equal: looking and deleting are one command', async () => {
  const p = lab.process('delete-if-equal');
  const lock = p.lock();

  await lab.done(lock.acquire());
  await lab.done(lock.release());

  expect([p.sent, lab.redis('EXISTS', 'lock')]).toEqual([['set', 'delifeq'], 0]);
});

test('delete-if-equal: it compares a string; a hash of hold counts, as stage 7 has it, is refused', async () => {
  const lock = lab.process('delete-if-equal').lock({ ownerToken: 'a' });
  lab.redis('HSET', 'lock', 'a', 1);

  await expect(lab.done(lock.release())).rejects.toThrow('WRONGTYPE');

  expect(lab.redis('HGET', 'lock', 'a')).toBe('1');
});
