import { expect, test } from 'vitest';
import { openLab } from '../lab.ts';

const lab = openLab();
const LEASE_MS = 600;

const waiting = () => lab.redis('LLEN', 'lock:queue');

/** A holds in a process of its own, for 30 s. There are two more. */
async function startHeld() {
  const [p, q, r] = lab.processes('fair', 3);
  const a = p.lock();
  await lab.done(a.acquire());
  return { a, q, r };
}

test('fair: a waiter that learns too late that it was its turn does not enter beside another one', async () => {
  const { a, q, r } = await startHeld();
  const entered = lab.follow(q.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  const c = r.lock();
  const later = lab.follow(c.acquire());
  await lab.advance(1);
  q.freeze();
  await lab.done(a.release());
  // The lease of B is over.
  await lab.done(later);

  q.thaw();
  await lab.advance(10 * LEASE_MS);

  expect([entered.state, waiting()]).toEqual(['pending', 1]);
  await lab.done(c.release());
  await lab.done(entered, LEASE_MS);
});

test('fair: a waiter that gives up while Redis refuses that, and is handed the lock, hands it on at once', async () => {
  const { a, q, r } = await startHeld();
  const patience = new AbortController();
  const gone = lab.follow(q.lock().acquire(patience.signal));
  await lab.advance(1);
  const next = lab.follow(r.lock().acquire());
  await lab.advance(1);
  const refuseWrites = (replicas: number) => lab.redis('CONFIG', 'SET', 'min-replicas-to-write', replicas);
  refuseWrites(1);
  patience.abort();
  await lab.advance(100);
  refuseWrites(0);

  await lab.done(a.release());
  await lab.advance(0);

  expect([gone.state, next.state, waiting()]).toEqual(['failed', 'done', 0]);
  // It does not listen any longer.
  expect(q.sent.at(-1)).toBe('unsubscribe');
});

test('fair: a process that stands still costs two leases, however many wait in it', async () => {
  const { a, q, r } = await startHeld();
  for (let waiter = 0; waiter < 8; waiter += 1) lab.follow(q.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  const entered = lab.follow(r.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  expect(waiting()).toBe(9);
  q.freeze();

  await lab.done(a.release());
  const freedAt = lab.now();
  await lab.done(entered);

  // The end of each is noticed a third of one later at most.
  expect(lab.now() - freedAt).toBeGreaterThan(2 * LEASE_MS);
  expect(lab.now() - freedAt).toBeLessThanOrEqual((8 / 3) * LEASE_MS);
});

test('fair: a waiter keeps its place for longer than its lease', async () => {
  const { a, q, r } = await startHeld();
  const b = q.lock({ leaseMs: LEASE_MS });
  const first = lab.follow(b.acquire());
  await lab.advance(1);
  const second = lab.follow(r.lock().acquire());

  await lab.advance(10 * LEASE_MS);
  await lab.done(a.release());
  await lab.done(first, 0);

  expect(second.state).toBe('pending');
  await lab.done(b.release());
  await lab.done(second, 0);
});
