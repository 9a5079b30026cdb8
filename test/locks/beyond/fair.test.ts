import { expect, test } from 'vitest';
import { aborted, NO_ANSWER, once, openLab } from '../lab.ts';

const lab = openLab();
const ASK = 'acquire-in-turn';
const LEASE_MS = 600;

const waiting = () => lab.redis('LLEN', 'lock:queue');
type Process = ReturnType<typeof lab.process>;

/** A holds in a process of its own, for 30 s. There are three more. */
async function startHeld() {
  const [p, q, r, ...more] = lab.processes('fair', 4);
  const a = p.lock();
  await lab.done(a.acquire());
  return { a, q, r, s: more[0] as Process };
}

/** Waits, and holds for so long. */
async function enterAndLeave(p: Process, onEnter = () => {}, { leaseMs = 30_000, holdMs = 1 } = {}) {
  const lock = p.lock({ leaseMs });
  await lock.acquire();
  onEnter();
  await p.world.sleep(holdMs);
  await lock.release();
}

test('fair: who asked first enters first, whatever the process', async () => {
  const { a, q, r } = await startHeld();
  const order: number[] = [];
  const waiters: Promise<void>[] = [];
  for (let asked = 0; asked < 20; asked += 1) {
    // First both in turns, then each several times.
    const node = asked < 10 ? asked % 2 : Number(asked % 5 > 2);
    waiters.push(enterAndLeave(node === 0 ? q : r, () => order.push(asked)));
    await lab.advance(1);
    expect(waiting()).toBe(asked + 1);
  }

  await lab.done(a.release());
  await lab.done(Promise.all(waiters));

  expect(order).toEqual(Array.from({ length: 20 }, (_, asked) => asked));
});

test('fair: a newcomer does not overtake a waiter that was handed the lock and has not entered yet', async () => {
  const { a, q, r } = await startHeld();
  const order: string[] = [];
  const first = enterAndLeave(q, () => order.push('b'));
  await lab.advance(100);
  q.freeze();

  await lab.done(a.release());
  await expect(lab.done(r.lock().acquire(once))).rejects.toMatchObject(aborted);
  const second = enterAndLeave(r, () => order.push('c'));
  await lab.advance(100);
  q.thaw();
  await lab.done(Promise.all([first, second]));

  expect(order).toEqual(['b', 'c']);
});

test('fair: a release wakes the first waiter, and no other', async () => {
  const { a, q, r } = await startHeld();
  const waits = [];
  for (const p of [q, q, r]) {
    waits.push(lab.follow(p.lock().acquire()));
    await lab.advance(1);
  }
  const sent = [q.sent.length, r.sent.length];

  await lab.done(a.release());
  await lab.done(waits[0] as Promise<void>, 0);
  await lab.advance(0);

  expect([q.sent.length, r.sent.length]).toEqual(sent);
  expect(waits.map(({ state }) => state)).toEqual(['done', 'pending', 'pending']);
});

test('fair: a release between the ask and the subscription is not missed', async () => {
  const { a, q } = await startHeld();
  const subscription = q.hold('subscribe');
  const entered = lab.follow(q.lock().acquire());
  await lab.advance(1);
  expect(q.sent).toEqual(['subscribe', ASK]);

  // It is new, so it need not hear.
  await lab.done(a.release());
  subscription.letGo();

  await lab.done(entered, 0);
});

test('fair: a release that is heard while the answer to the ask is on its way is not missed', async () => {
  const { a, q } = await startHeld();
  const answer = q.holdAnswer(ASK, 1);
  const entered = lab.follow(q.lock().acquire());
  await lab.advance(1);

  await lab.done(a.release());
  answer.letGo();

  await lab.done(entered, 0);
  expect(q.sent).toEqual(['subscribe', ASK, 'unsubscribe']);
});

test('fair: a waiter that learns too late that it was its turn does not enter beside another one', async () => {
  const { a, q, r } = await startHeld();
  const answer = q.holdAnswer(ASK, 1);
  const entered = lab.follow(q.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  const c = r.lock();
  const later = lab.follow(c.acquire());
  await lab.advance(1);
  await lab.done(a.release());
  // The lease of B is over.
  await lab.done(later);

  answer.letGo();
  await lab.advance(10 * LEASE_MS);

  expect([entered.state, waiting()]).toEqual(['pending', 1]);
  await lab.done(c.release());
  await lab.done(entered, LEASE_MS);
});

test('fair: a waiter that slept through its turn has lost its place, and asks for another one', async () => {
  const { a, q, r } = await startHeld();
  const entered = lab.follow(q.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  const c = r.lock();
  const later = lab.follow(c.acquire());
  await lab.advance(1);
  q.freeze();
  await lab.done(a.release());
  await lab.done(later);

  q.thaw();
  await lab.advance(10 * LEASE_MS);

  expect([entered.state, waiting()]).toEqual(['pending', 1]);
  await lab.done(c.release());
  await lab.done(entered, LEASE_MS);
});

test('fair: a message about an earlier wait lets nobody in', async () => {
  const { a, q } = await startHeld();
  const entered = lab.follow(q.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  const [earlier = ''] = lab.redis('LRANGE', 'lock:queue', 0, -1) as string[];
  // It has lost its place, and asks for another one.
  lab.redis('DEL', 'lock:queue');
  await lab.advance(LEASE_MS / 3);
  expect(waiting()).toBe(1);

  expect(lab.redis('PUBLISH', `lock:${earlier.split(':')[0]}`, earlier)).toBe(1);
  await lab.advance(10 * LEASE_MS);

  expect(entered.state).toBe('pending');
  await lab.done(a.release());
  await lab.done(entered, 0);
});

test('fair: a waiter that gives up leaves the queue at once, and the next one enters', async () => {
  const { a, q, r } = await startHeld();
  const patience = new AbortController();
  const gone = lab.follow(q.lock().acquire(patience.signal));
  await lab.advance(1);
  const entered = lab.follow(r.lock().acquire());
  await lab.advance(1);

  patience.abort();
  await expect(lab.done(gone)).rejects.toMatchObject(aborted);
  await lab.advance(0);
  expect(waiting()).toBe(1);
  await lab.done(a.release());

  await lab.done(entered, 0);
});

test('fair: a waiter whose sign of life is refused makes way for the next one', async () => {
  const { a, q, r } = await startHeld();
  const gone = lab.follow(q.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  const entered = lab.follow(r.lock().acquire());
  await lab.advance(1);
  q.fail(ASK, 1);

  await expect(lab.done(gone)).rejects.toThrow(NO_ANSWER);

  await lab.advance(0);
  expect([lab.now(), waiting()]).toEqual([LEASE_MS / 3, 1]);
  await lab.done(a.release());
  await lab.done(entered, 0);
});

test('fair: killed waiters cost a lease at most, however many they are', async () => {
  const { a, q, r, s } = await startHeld();
  for (const p of [q, r, q]) {
    lab.follow(p.lock({ leaseMs: LEASE_MS }).acquire());
    await lab.advance(1);
  }
  const entered = lab.follow(s.lock({ leaseMs: LEASE_MS }).acquire());
  await lab.advance(1);
  q.kill();
  r.kill();

  await lab.done(a.release());
  const freedAt = lab.now();
  await lab.done(entered);

  // The first is new, and might hear. The end of its lease is noticed a third of one later at most.
  expect(lab.now() - freedAt).toBeGreaterThan(LEASE_MS);
  expect(lab.now() - freedAt).toBeLessThanOrEqual((4 / 3) * LEASE_MS);
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

test('fair: a lock that is handed on has the lease of who gets it', async () => {
  const [p, q] = lab.processes('fair', 2);
  const a = p.lock({ leaseMs: 1_000 });
  await lab.done(a.acquire());
  const entered = lab.follow(q.lock({ leaseMs: 30_000 }).acquire());
  await lab.advance(100);

  await lab.done(a.release());
  await lab.done(entered);

  expect(lab.redis('PTTL', 'lock')).toBe(30_000);
});

test('fair: an acquisition that waits in a queue takes ten commands of Redis at most', async () => {
  const ROUNDS = 10;
  const WAITERS = 20;
  /** Those in scripts are counted as well. */
  const carriedOut = () =>
    [...String(lab.redis('INFO', 'commandstats')).matchAll(/cmdstat_(\w+)\S*:calls=(\d+)/g)].reduce(
      (sum, [, name, calls]) => (name === 'info' ? sum : sum + Number(calls)),
      0,
    );
  const processes = lab.processes('fair', 2);
  async function enterOften(p: Process) {
    for (let round = 0; round < ROUNDS; round += 1) await enterAndLeave(p);
  }
  const before = carriedOut();

  await lab.done(Promise.all(Array.from({ length: WAITERS }, (_, n) => enterOften(processes[n % 2] as Process))));

  const each = (carriedOut() - before) / (ROUNDS * WAITERS);
  expect(each).toBeGreaterThan(8);
  expect(each).toBeLessThan(10);
});

test('fair: a waiter keeps its place for longer than its lease', async () => {
  const { a, q, r } = await startHeld();
  const order: string[] = [];
  const b = enterAndLeave(q, () => order.push('b'), { leaseMs: LEASE_MS });
  await lab.advance(1);
  const c = enterAndLeave(r, () => order.push('c'));

  await lab.advance(10 * LEASE_MS);
  await lab.done(a.release());
  await lab.done(Promise.all([b, c]));

  expect(order).toEqual(['b', 'c']);
});

test('fair: a waiter enters when the lease of a holder that died has ended', async () => {
  const q = lab.process('fair');
  lab.redis('SET', 'lock', 'dead', 'PX', 400);

  await lab.done(q.lock().acquire());

  expect([lab.now(), q.sent]).toEqual([401, ['subscribe', ASK, ASK, ASK, ASK, 'unsubscribe']]);
});
