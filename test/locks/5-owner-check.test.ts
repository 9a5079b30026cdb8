import { expect, test } from 'vitest';
import { notHeld, once, openLab } from './lab.ts';

const lab = openLab();

/** A, B and C, each in a process of its own. A holds, for 900 ms. */
async function startHeld() {
  const [p, q, r] = lab.processes('5-owner-check', 3);
  const [a, b, c] = [p.lock({ ownerToken: 'a', leaseMs: 900 }), q.lock({ ownerToken: 'b' }), r.lock()];
  await lab.done(a.acquire());
  return { p, a, b, c };
}

test('5-owner-check: a lease that ends between the look and the delete is learnt from the release', async () => {
  const { p, a } = await startHeld();
  const deletion = p.hold('del');
  const released = lab.follow(a.release());
  await lab.advance(901);

  deletion.letGo();

  await expect(lab.done(released)).rejects.toMatchObject(notHeld);
});

test('5-owner-check: the owner changes between the look and the delete, and a third enters', async () => {
  const { p, a, b, c } = await startHeld();
  expect([lab.redis('GET', 'lock'), lab.redis('PTTL', 'lock')]).toEqual(['a', 900]);
  const deletion = p.hold('del');
  const released = lab.follow(a.release());
  await lab.advance(901);
  await lab.done(b.acquire(once));

  deletion.letGo();
  await lab.done(released);

  expect([p.sent, lab.redis('EXISTS', 'lock')]).toEqual([['set', 'get', 'del'], 0]);
  await lab.done(c.acquire(once));
  await expect(lab.done(b.release())).rejects.toMatchObject(notHeld);
});
