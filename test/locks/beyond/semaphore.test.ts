import { expect, test } from 'vitest';
import { registry } from '../../../locks/index.ts';
import { aborted, notHeld, once, openLab } from '../lab.ts';

const lab = openLab();
const LEASE_MS = 900;
const permits = 3;

test('semaphore: as many are inside as there are permits, on two nodes; the next one waits for a release', async () => {
  const [p, q] = lab.processes('semaphore', 2);
  const [a, b, c, d] = [p.lock({ permits }), q.lock({ permits }), p.lock({ permits }), q.lock({ permits })];
  for (const lock of [a, b, c]) await lab.done(lock.acquire());

  await expect(lab.done(d.acquire(once), 400)).rejects.toMatchObject(aborted);
  const entered = lab.follow(d.acquire());
  await lab.advance(100);
  expect(entered.state).toBe('pending');
  await lab.done(b.release());

  await lab.done(entered);
  await expect(lab.done(b.release())).rejects.toMatchObject(notHeld);
});

test('semaphore: the permit of a dead holder comes back when its lease ends, and those of others are renewed', async () => {
  const [p, dead] = lab.processes('semaphore', 2);
  const held = [p.lock({ permits, leaseMs: LEASE_MS }), p.lock({ permits, leaseMs: LEASE_MS })];
  for (const lock of held) await lab.done(lock.acquire());
  await lab.done(dead.lock({ permits, leaseMs: LEASE_MS }).acquire());
  dead.kill();

  const next = lab.follow(p.lock({ permits }).acquire());
  await lab.advance(LEASE_MS - 100);
  expect(next.state).toBe('pending');
  await lab.advance(100 + 20);

  await lab.done(next);
  await expect(lab.done(p.lock({ permits }).acquire(once), 400)).rejects.toMatchObject(aborted);
  expect(held.map(({ lost }) => lost?.aborted)).toEqual([false, false]);
});

test('semaphore: no lock under which one alone may read and write', () => {
  expect(
    ['8-auto-renew', 'buckets', 'semaphore', 'redis-atomic'].map(
      (name) => registry.exclusiveLockOf(name) !== undefined,
    ),
  ).toEqual([true, true, false, false]);
});
