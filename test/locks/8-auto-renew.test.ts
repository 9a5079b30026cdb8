import { expect, test } from 'vitest';
import { notHeld, openLab } from './lab.ts';

const lab = openLab();
const LEASE_MS = 900;

// What its watchdog does is in contract.test.ts, for all locks that have one.

test('8-auto-renew: a paused process cannot renew, and wakes up believing it still holds', async () => {
  const [p, q] = lab.processes('8-auto-renew', 2);
  const [a, b] = [p.lock({ leaseMs: LEASE_MS, onLeaseLost() {} }), q.lock({ ownerToken: 'b' })];
  lab.redis('SET', 'stock', 100);
  await lab.done(a.acquire());
  const readByA = Number(lab.redis('GET', 'stock'));

  p.freeze();
  await lab.done(b.acquire());
  lab.redis('SET', 'stock', Number(lab.redis('GET', 'stock')) - 1);
  p.thaw();
  // Nothing has told it, so it writes.
  lab.redis('SET', 'stock', readByA - 1);

  expect(lab.redis('GET', 'stock')).toBe('99');
  await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);
  expect(lab.redis('HGETALL', 'lock')).toEqual(['b', '1']);
  await lab.done(b.release());
});
