import { expect, test } from 'vitest';
import { notHeld, openLab } from './lab.ts';

const lab = openLab();

test('7-reentrant: a sale longer than the lease loses the lock half way', async () => {
  const [p, q] = lab.processes('7-reentrant', 2);
  const [a, b] = [p.lock({ ownerToken: 'a', leaseMs: 900 }), q.lock({ ownerToken: 'b' })];
  await lab.done(a.acquire());

  // A is still inside: it releases only after B has entered.
  await lab.done(b.acquire());

  expect(lab.now()).toBe(920);
  expect(p.sent).toEqual(['acquire-reentrant']);
  await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);
  expect(lab.redis('HGETALL', 'lock')).toEqual(['b', '1']);
});
