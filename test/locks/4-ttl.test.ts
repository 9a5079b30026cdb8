import { expect, test } from 'vitest';
import { notHeld, once, openLab } from './lab.ts';

const lab = openLab();

test('4-ttl: one command creates the key and sets its expiry', async () => {
  const p = lab.process('4-ttl');

  await lab.done(p.lock({ leaseMs: 5_000 }).acquire());

  expect([p.sent, lab.redis('GET', 'lock'), lab.redis('PTTL', 'lock')]).toEqual([['set'], 'held', 5_000]);
});

test('4-ttl: a holder whose lease has ended learns it from its release, when nobody has entered since', async () => {
  const lock = lab.process('4-ttl').lock({ leaseMs: 900 });
  await lab.done(lock.acquire());
  await lab.advance(901);

  await expect(lab.done(lock.release())).rejects.toMatchObject(notHeld);
});

test("4-ttl: a holder slower than its lease deletes the next holder's key, and a third enters", async () => {
  const [a, b, c] = lab.processes('4-ttl', 3).map((p) => p.lock({ leaseMs: 900 }));
  await lab.done(Promise.all([a?.acquire()]));
  await lab.advance(901);
  await lab.done(Promise.all([b?.acquire(once)]));

  await lab.done(Promise.all([a?.release()]));

  expect(lab.redis('EXISTS', 'lock')).toBe(0);
  await lab.done(Promise.all([c?.acquire(once)]));
});
