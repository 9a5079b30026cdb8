import { expect, test } from 'vitest';
import type { BlockingLock } from '../../../locks/beyond/blocking.ts';
import { aborted, notHeld, openLab } from '../lab.ts';

const lab = openLab();
const TRY = 'acquire-or-return-lease';

const listeners = () => (lab.redis('PUBSUB', 'NUMSUB', 'lock:released') as [string, number])[1];

/** A holds in a process of its own, for 30 s. */
async function startHeld() {
  const [p, q] = lab.processes('blocking', 2);
  const a = p.lock() as BlockingLock;
  await lab.done(a.acquire());
  return { p, q, a, b: q.lock() as BlockingLock };
}

test('blocking: a release between the failed try and the subscription is not missed', async () => {
  const { q, a, b } = await startHeld();
  const subscription = q.hold('subscribe');
  const entered = lab.follow(b.acquire());
  await lab.advance(100);
  await lab.done(a.release()); // Nobody listens yet.

  subscription.letGo();
  await lab.done(entered);

  expect(lab.now()).toBe(100);
});

test('blocking: fifty waiters of one process share one subscription, and a release wakes one of them', async () => {
  const { q, a } = await startHeld();
  const waiters = Array.from({ length: 50 }, () => lab.follow(q.lock().acquire()));
  await lab.advance(100);
  expect([q.sent, listeners()]).toEqual([[TRY, 'subscribe', TRY], 1]);

  await lab.done(a.release());
  await lab.advance(100);

  expect(q.sent.slice(3)).toEqual([TRY]);
  expect(waiters.map(({ state }) => state)).toEqual(['done', ...Array(49).fill('pending')]);
});

test('blocking: when the first waiter gives up, the next one hears of the release', async () => {
  const { q, a, b } = await startHeld();
  const patience = new AbortController();
  const gone = lab.follow(b.acquire(patience.signal));
  const entered = lab.follow(q.lock().acquire());
  await lab.advance(100);

  patience.abort();
  await expect(lab.done(gone)).rejects.toMatchObject(aborted);
  await lab.done(a.release());

  await lab.done(entered, 0);
});

test('blocking: tryLock with a lease of its own is not renewed, without one it is', async () => {
  const [p, q] = lab.processes('blocking', 2);
  const a = p.lock({ leaseMs: 900 }) as BlockingLock;
  await lab.done(a.tryLock(0, 1_800));
  expect(lab.redis('PTTL', 'lock')).toBe(1_800);

  await lab.done(q.lock().acquire());

  expect([lab.now(), p.sent]).toEqual([1_801, [TRY]]);
  await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);
  q.kill();
  await lab.advance(30_001);
  await lab.done(a.tryLock(0));
  await lab.advance(300);
  expect([p.sent.at(-1), lab.redis('PTTL', 'lock')]).toEqual(['renew-if-owner', 900]);
});

test('blocking: a fixed lease is that of every acquisition, and none of them is renewed', async () => {
  const p = lab.process('blocking');
  const a = p.lock({ leaseMs: 900, fixedLeaseMs: 600 }) as BlockingLock;
  await lab.done(a.acquire());

  await lab.advance(400);
  await lab.done(a.tryLock(0));
  await lab.advance(400);

  expect([p.sent, lab.redis('PTTL', 'lock')]).toEqual([[TRY, TRY], 200]);
});
