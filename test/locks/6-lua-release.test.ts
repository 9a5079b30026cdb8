import { expect, test } from 'vitest';
import { aborted, openLab } from './lab.ts';

const lab = openLab();

test('6-lua-release: looking and deleting are one command', async () => {
  const p = lab.process('6-lua-release');
  const lock = p.lock({ ownerToken: 'a', leaseMs: 5_000 });

  await lab.done(lock.acquire());
  expect([lab.redis('GET', 'lock'), lab.redis('PTTL', 'lock')]).toEqual(['a', 5_000]);
  await lab.done(lock.release());

  expect(p.sent).toEqual(['set', 'release-if-owner']);
});

test('6-lua-release: a holder that asks for its own lock again waits for itself', async () => {
  const p = lab.process('6-lua-release');
  const patience = new AbortController();
  const lock = p.lock({ ownerToken: 'a' });
  await lab.done(lock.acquire());

  const nested = lab.follow(lock.acquire(patience.signal));
  await lab.advance(10_000);
  expect(nested.state).toBe('pending');
  patience.abort();

  await expect(lab.done(nested)).rejects.toMatchObject(aborted);
  expect(lab.redis('GET', 'lock')).toBe('a');
});
