import { describe, expect, test } from 'vitest';
import { lockName } from '../../locks/index.ts';
import type { LockOptions } from '../../locks/lock.ts';
import { aborted, labLocks, notHeld, once, openLab } from './lab.ts';

const lab = openLab({ masters: 3 });

const without = (names: string[], ...others: string[]) => names.filter((name) => !others.includes(name));
/** Stage 0 protects nothing. */
const guarding = without(labLocks, '0-none');
/** Stage 1 is a lock for one process: it knows of no other. */
const shared = without(guarding, '1-in-process');
const leased = without(shared, '2-recursive-retry', '3-spin');
/** A release looks at whose it is. */
const owned = without(leased, '4-ttl');
/** A holder may ask again. */
const reentrant = without(owned, '5-owner-check', '6-lua-release', 'delete-if-equal', 'semaphore');
const renewed = without(reentrant, '7-reentrant');
/** They have a signal that says that the lock is lost. */
const telling = without(renewed, '8-auto-renew');

const LEASE_MS = 900;
const RETRY_MS = 20;

/** What a server that this lock lives in answers. */
const ask = (name: string, ...command: string[]) =>
  name === 'redlock' ? lab.master(1, ...command) : lab.redis(...command);
const leaseLeft = (name: string) => ask(name, 'PTTL', 'lock');
const isFree = (name: string) => ask(name, 'EXISTS', 'lock') === 0;
/** The lease ends at once. */
function endLease(name: string) {
  if (name !== 'redlock') return lab.redis('DEL', 'lock');
  for (const master of [1, 2, 3]) lab.master(master, 'DEL', 'lock');
}

/** Two processes, of which the first holds the lock. */
async function startHeld(name: string, given: Partial<LockOptions> = {}) {
  const [p, q] = lab.processes(name, 2);
  const a = p.lock({ leaseMs: LEASE_MS, retryDelayMs: RETRY_MS, ...given });
  const b = q.lock({ leaseMs: LEASE_MS, retryDelayMs: RETRY_MS });
  await lab.done(a.acquire());
  return { p, q, a, b };
}
type Lock = Awaited<ReturnType<typeof startHeld>>['a'];

async function expectKeptOut(lock: Lock) {
  await expect(lab.done(lock.acquire(once), 400)).rejects.toMatchObject(aborted);
}

describe.each(reentrant)('%s: a request that holds and asks again', (name) => {
  test.each(['the same lock object', 'another one'])('by %s: is let in before those who wait', async (which) => {
    const { p, a, b } = await startHeld(name, { ownerToken: 'ours', leaseMs: 30_000 });
    const inner = which === 'another one' ? p.lock({ ownerToken: 'ours', leaseMs: 30_000 }) : a;
    // One in its own process, in which a lock may have a queue, and one elsewhere.
    const waiters = [p.lock(), b].map((lock) => lab.follow(lock.acquire()));
    await lab.advance(RETRY_MS);

    await lab.done(inner.acquire(), 0);
    await lab.done(inner.release(), 0);

    await lab.advance(100 * RETRY_MS);
    expect(waiters.map(({ state }) => state)).toEqual(['pending', 'pending']);
    await lab.done(a.release());
    await lab.done(Promise.race(waiters));
    await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);
  });
});

test.each(guarding)('%s: an abort ends the wait at once, with the reason as its cause', async (name) => {
  const reason = new Error('The client has gone.');
  const { p } = await startHeld(name, { leaseMs: 30_000 });
  const patience = new AbortController();
  const lock = p.lock({ retryDelayMs: 60_000 });
  const entered = lab.follow(lock.acquire(patience.signal));
  await lab.advance(5);

  patience.abort(reason);

  const gone = { ...aborted, cause: reason };
  await expect(lab.done(entered, 0)).rejects.toMatchObject(gone);
  const before = p.sent.length;
  await expect(lab.done(lock.acquire(AbortSignal.abort(reason)), 400)).rejects.toMatchObject(gone);
  // One try; one for each master, and one to give its vote back.
  expect(p.sent.length - before).toBeLessThanOrEqual(name === 'redlock' ? 6 : 1);
});

test.each(guarding)('%s: a release rejects when the lock was never acquired, and the second time', async (name) => {
  const lock = lab.process(name).lock({ key: 'the lock' });
  const refused = { ...notHeld, message: expect.stringContaining('the lock') };
  await expect(lab.done(lock.release())).rejects.toMatchObject(refused);

  await lab.done(lock.acquire());
  await lab.done(lock.release());

  await expect(lab.done(lock.release())).rejects.toMatchObject(refused);
});

describe.each(renewed)('%s: a watchdog', (name) => {
  const isRenewal = (command: string) => command.startsWith('renew');
  const renewals = ({ sent }: { sent: string[] }) => sent.filter(isRenewal).length / (name === 'redlock' ? 3 : 1);

  test('starts the lease anew each time a third of it has passed, once for all holds', async () => {
    const { p, a, b } = await startHeld(name);
    await lab.done(a.acquire());

    await lab.advance(LEASE_MS / 3 - 1);
    expect([renewals(p), leaseLeft(name)]).toEqual([0, (2 * LEASE_MS) / 3 + 1]);
    await lab.advance(1);
    expect([renewals(p), leaseLeft(name)]).toEqual([1, LEASE_MS]);
    await lab.advance((3 * LEASE_MS) / 2 - LEASE_MS / 3);
    expect(renewals(p)).toBe(name === 'bounded' ? 3 : 4);

    await expectKeptOut(b);
    await lab.done(a.release());
    await lab.advance(LEASE_MS / 3);
    await expectKeptOut(b);
  });

  test('ends with the last release, also when that is not answered', async () => {
    const { p, a } = await startHeld(name);
    await lab.done(a.acquire());
    await lab.advance(LEASE_MS / 3);
    await lab.done(a.release());
    p.fail();

    await lab.done(a.release()).catch(() => {});
    const before = renewals(p);
    await lab.advance(3 * LEASE_MS);

    expect(renewals(p)).toBe(before);
    expect(p.world.timers()).toEqual([]);
    expect(isFree(name)).toBe(true);
  });

  test('tells once that the lock is lost, and renews no more', async () => {
    let losses = 0;
    const { p, a } = await startHeld(name, { onLeaseLost: () => (losses += 1) });
    const late = p.hold(isRenewal);
    // Two renewals, or the votes of two, are on their way.
    await lab.advance((2 * LEASE_MS) / 3 + 10);
    endLease(name);
    late.letGo();
    await lab.advance(LEASE_MS);
    const before = renewals(p);

    await lab.advance(3 * LEASE_MS);

    expect([losses, renewals(p)]).toEqual([1, before]);
    if (name !== '8-auto-renew') expect(a.lost?.reason).toMatchObject(notHeld);
    await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);
  });

  test('renews a hold that follows a refused release, or a lost lease', async () => {
    const p = lab.process(name);
    const lock = p.lock({ leaseMs: LEASE_MS, onLeaseLost() {} });
    await expect(lab.done(lock.release())).rejects.toMatchObject(notHeld);
    for (const time of [1, 2]) {
      await lab.done(lock.acquire(once));
      const before = renewals(p);
      await lab.advance(LEASE_MS / 3);
      expect([time, renewals(p) - before, leaseLeft(name)]).toEqual([time, 1, LEASE_MS]);
      endLease(name);
      await lab.advance(LEASE_MS / 3);
    }
    await expect(lab.done(lock.release())).rejects.toMatchObject(notHeld);
  });
});

test.each(telling)('%s: is lost when its lease is over and no renewal was answered', async (name) => {
  let losses = 0;
  const { p, a } = await startHeld(name, { onLeaseLost: () => (losses += 1) });
  const away = p.hold();

  // Redlock leaves 1 % and 2 ms out, because clocks differ.
  const end = name === 'redlock' ? LEASE_MS - 11 : LEASE_MS;
  await lab.advance(end - 1);
  expect([losses, a.lost?.aborted]).toEqual([0, false]);
  await lab.advance(1);

  expect([losses, a.lost?.aborted]).toEqual([1, true]);
  expect(a.lost?.reason).toMatchObject(notHeld);
  away.letGo();
});

const unknown = ['', '9', '-1', '08', '4.0', '4 ', 'ttl', '٤', '__proto__', 'toString'];
test.each(unknown)('lockName: finds nothing for %j', (version) => {
  expect(lockName(version)).toBeUndefined();
});
