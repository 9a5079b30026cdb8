import { expect, test } from 'vitest';
import { openLab } from './lab.ts';

const lab = openLab();

test('4-ttl: one command creates the key and sets its expiry', async () => {
  const p = lab.process('4-ttl');

  await lab.done(p.lock({ leaseMs: 5_000 }).acquire());

  expect([p.sent, lab.redis('GET', 'lock'), lab.redis('PTTL', 'lock')]).toEqual([['set'], 'held', 5_000]);
});
