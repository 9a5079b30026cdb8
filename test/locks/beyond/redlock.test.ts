import { expect, test } from 'vitest';
import type { LockOptions } from '../../../locks/lock.ts';
import { aborted, notHeld, once, openLab } from '../lab.ts';

const lab = openLab({ masters: 5 });
const MASTERS = [1, 2, 3, 4, 5];
const LEASE_MS = 300;
/** How long a vote is waited for, with a lease of a second or more. */
const VOTE_LIMIT_MS = 50;
const tooFewAnswer = { name: 'NoMajorityError', code: 'NO_MAJORITY' };

/** Who has the vote of each master; null where nobody has. */
const votes = () => MASTERS.map((master) => (lab.master(master, 'HKEYS', 'lock') as string[])[0] ?? null);
const free = [null, null, null, null, null];

/** A holder in a process of its own, and another one. */
async function startHeld(given: Partial<LockOptions> = {}) {
  const [p, q] = lab.processes('redlock', 2);
  const a = p.lock({ ownerToken: 'a', ...given });
  await lab.done(a.acquire(once), 0);
  await lab.advance(0);
  return { p, a, b: q.lock({ ownerToken: 'b' }) };
}

test('redlock: without a majority the votes are given back', async () => {
  for (const master of [1, 2, 3]) lab.master(master, 'HSET', 'lock', 'other', 1);
  const lock = lab.process('redlock').lock({ ownerToken: 'a' });

  await expect(lab.done(lock.acquire(once), 0)).rejects.toMatchObject(aborted);

  await lab.advance(0);
  expect(votes()).toEqual(['other', 'other', 'other', null, null]);
});

test.each([1, 2])('redlock: %s of five masters that stand still cost nothing', async (count) => {
  const stopped = MASTERS.slice(0, count);
  lab.freezeServer(...stopped);
  const { a } = await startHeld();

  await lab.done(a.release(), 0);

  lab.thawServer(...stopped);
  await lab.advance(0);
  expect(votes()).toEqual(free);
});

test('redlock: with three that stand still nobody enters, nothing hangs, and no late vote stays', async () => {
  const lock = lab.process('redlock').lock();
  lab.freezeServer(1, 2, 3);

  await expect(lab.done(lock.acquire())).rejects.toMatchObject(tooFewAnswer);

  // Three votes, and two pauses of at most twice the delay for each master.
  expect(lab.now()).toBeGreaterThanOrEqual(3 * VOTE_LIMIT_MS);
  expect(lab.now()).toBeLessThanOrEqual(3 * VOTE_LIMIT_MS + 2 * (2 * 20 * 5));
  lab.thawServer(1, 2, 3);
  await lab.advance(0);
  expect(votes()).toEqual(free);
});

test('redlock: votes that are read when their lease has ended are no lock', async () => {
  const p = lab.process('redlock');
  const asked = p.hold('acquire-reentrant');
  const entered = lab.follow(p.lock({ leaseMs: LEASE_MS }).acquire(once));
  await lab.advance(0);

  // The process stands still until the votes have ended.
  p.freeze();
  asked.letGo();
  expect(votes().filter(Boolean)).toHaveLength(5);
  await lab.advance(LEASE_MS);
  p.thaw();

  await expect(lab.done(entered)).rejects.toMatchObject(aborted);
});

test('redlock: a holder that slept through its lease knows it as soon as it looks', async () => {
  let losses = 0;
  const { p, a } = await startHeld({ leaseMs: LEASE_MS, onLeaseLost: () => (losses += 1) });
  p.freeze();
  await lab.advance(LEASE_MS);

  // No timer of it has run yet.
  expect(a.lost?.reason).toMatchObject(notHeld);

  p.thaw();
  await lab.advance(LEASE_MS);
  expect(losses).toBe(1);
});

test('redlock: two masters that forget cost nothing, a third the lock', async () => {
  const losses: number[] = [];
  const { a } = await startHeld({ leaseMs: LEASE_MS, onLeaseLost: () => losses.push(lab.now()) });

  for (const master of [1, 2]) lab.master(master, 'FLUSHALL');
  await lab.advance(10 * LEASE_MS);
  expect(a.lost?.aborted).toBe(false);
  lab.master(3, 'FLUSHALL');
  await lab.advance(LEASE_MS);

  // At the next renewal, long before the lease ends.
  expect(losses).toEqual([10 * LEASE_MS + LEASE_MS / 3]);
  await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);
  await lab.advance(0);
  expect(votes()).toEqual(free);
});
