import { describe, expect, test } from 'vitest';
import type { Lock, LockOptions } from '../../../locks/lock.ts';
import { aborted, notHeld, once, openLab } from '../lab.ts';

const lab = openLab();
const LEASE_MS = 900;
const upgrade = { name: 'LockUpgradeError', code: 'LOCK_UPGRADE' };
const MARK = 'lock:waiting';

/** Each in a process of its own. */
const writer = (given?: Partial<LockOptions>) => lab.process('read-write').lock(given);
const reader = (given?: Partial<LockOptions>) => lab.process('read-write').readLock(given);

const acquire = (...locks: Lock[]) => lab.done(Promise.all(locks.map((lock) => lock.acquire(once))), 0);
const release = async (...locks: Lock[]) => {
  for (const lock of locks) await lab.done(lock.release(), 0);
};
/** A reader, or a writer, that tries once and is kept out. */
const expectKeptOut = (lock: Lock) => expect(lab.done(lock.acquire(once))).rejects.toMatchObject(aborted);
/** A waiter that has tried, and marked that it waits if it writes. */
async function startWaiting(lock: Lock, signal?: AbortSignal) {
  const waits = lab.follow(lock.acquire(signal));
  await lab.advance(1);
  expect(waits.state).toBe('pending');
  // Not the promise itself, which would be awaited.
  return { waits };
}
const keys = () => lab.redis('KEYS', '*');

describe('read-write: a writer that waits', () => {
  test('keeps new readers out, not those who read already, and they enter as soon as it has left', async () => {
    const [first, second, sale] = [reader(), reader(), writer()];
    await acquire(first);
    const { waits } = await startWaiting(sale);

    await expectKeptOut(second);
    await acquire(first);
    await release(first, first);
    await lab.done(waits, 20);
    await expectKeptOut(second);
    await release(sale);

    await acquire(second);
  });

  test('that gives up lets readers in again at once', async () => {
    const patience = new AbortController();
    await acquire(reader());
    const { waits } = await startWaiting(writer({ retryDelayMs: 60_000 }), patience.signal);
    expect(lab.redis('PTTL', MARK)).toBe(60_999);

    patience.abort();

    await expect(lab.done(waits, 0)).rejects.toMatchObject(aborted);
    await lab.advance(0);
    await acquire(reader());
  });
});

test('read-write: a reader that waits for a writer enters when it has left; one that gives up leaves nothing', async () => {
  const patience = new AbortController();
  const sale = writer();
  await acquire(sale);
  const { waits: entered } = await startWaiting(reader());
  const { waits: gone } = await startWaiting(reader(), patience.signal);

  patience.abort();
  await expect(lab.done(gone, 0)).rejects.toMatchObject(aborted);
  await release(sale);

  await lab.done(entered, 20);
  expect(lab.redis('HLEN', 'lock:readers')).toBe(1);
});

describe('read-write: the lease of a reader', () => {
  test('is renewed for as long as it reads', async () => {
    const p = lab.process('read-write');
    const look = p.readLock({ leaseMs: LEASE_MS });
    await acquire(look);

    await lab.advance(3 * LEASE_MS);
    await expectKeptOut(writer());
    expect(p.sent).toEqual(['acquire-to-read', ...Array(9).fill('renew-reader')]);
    await release(look);

    await lab.advance(3 * LEASE_MS);
    expect([p.sent.length, look.lost?.aborted]).toEqual([11, false]);
  });

  test('that is lost: it is told once, and its release says so', async () => {
    let losses = 0;
    const look = reader({ leaseMs: LEASE_MS, onLeaseLost: () => (losses += 1) });
    await acquire(look);

    lab.redis('DEL', 'lock:readers', 'lock:leases');
    await lab.advance(3 * LEASE_MS);

    expect(losses).toBe(1);
    expect(look.lost?.reason).toMatchObject(notHeld);
    await expect(lab.done(look.release())).rejects.toMatchObject(notHeld);
  });
});

describe('read-write: re-entry', () => {
  const ownerToken = 'ours';
  /** Locks of one request. */
  function ofOneRequest(...kinds: ('readLock' | 'lock')[]) {
    const p = lab.process('read-write');
    return kinds.map((kind) => p[kind]({ ownerToken, retryDelayMs: 60_000 })) as [Lock, Lock, Lock];
  }

  test('a writer reads as well, and goes on reading when it no longer writes', async () => {
    const [sale, look] = ofOneRequest('lock', 'readLock');
    const other = reader();
    await acquire(sale);
    await acquire(look);
    await expectKeptOut(other);

    await release(sale);

    await acquire(other);
    await release(other);
    await expectKeptOut(writer());
    await release(look);
    expect(keys()).toEqual([]);
  });

  test('a reader that asks to write is refused at once, and goes on reading', async () => {
    const [look, sale] = ofOneRequest('readLock', 'lock');
    await acquire(look);

    await expect(lab.done(sale.acquire(), 0)).rejects.toMatchObject(upgrade);

    await expectKeptOut(writer());
    await release(look);
    await acquire(sale);
  });
});
