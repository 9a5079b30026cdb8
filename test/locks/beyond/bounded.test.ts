import { expect, test } from 'vitest';
import { notHeld, openLab } from '../lab.ts';

const lab = openLab();
const LEASE_MS = 900;
const THREE_RENEWALS = ['renew-if-owner', 'renew-if-owner', 'renew-if-owner'];

/** A holder that does not release, whose losses are counted. */
async function startHolder() {
  const [p, q] = lab.processes('bounded', 2);
  const losses: number[] = [];
  const lock = p.lock({ leaseMs: LEASE_MS, onLeaseLost: () => losses.push(lab.now()) });
  await lab.done(lock.acquire());
  return { p, lock, losses, other: q.lock() };
}

test('bounded: three renewals after it was taken the lock ends by itself, and its holder learns of it', async () => {
  const { p, lock, losses, other } = await startHolder();
  const entered = lab.follow(other.acquire());

  await lab.advance(2 * LEASE_MS - 1);
  expect([lock.lost?.aborted, entered.state]).toEqual([false, 'pending']);
  await lab.advance(1);

  expect(p.sent).toEqual(['acquire-reentrant', ...THREE_RENEWALS]);
  expect(losses).toEqual([2 * LEASE_MS]);
  expect(lock.lost?.reason).toMatchObject(notHeld);
  await lab.done(entered);
  expect(lab.now()).toBe(2 * LEASE_MS + 20);
  await expect(lab.done(lock.release())).rejects.toMatchObject(notHeld);
});
