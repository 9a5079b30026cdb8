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

describe('read-write: who is inside', () => {
  test('many readers at once, and each gives up its own hold', async () => {
    const readers = Array.from({ length: 20 }, () => reader());
    const sale = writer();
    await acquire(...readers);

    await release(...readers.slice(1));
    await expectKeptOut(sale);
    await release(readers[0] as Lock);

    await acquire(sale);
    await release(sale);
    expect(keys()).toEqual([]);
  });

  test('no reader while a writer is inside, and no other writer', async () => {
    const [sale, look] = [writer(), reader()];
    await acquire(sale);
    await expectKeptOut(writer());
    await expectKeptOut(look);
    const { waits } = await startWaiting(look);
    await lab.advance(1_000);
    expect(waits.state).toBe('pending');

    await release(sale);

    await lab.done(waits, 20);
    await acquire(reader());
  });

  test('no writer while a reader is inside', async () => {
    const [sale, look] = [writer(), reader()];
    await acquire(look);
    await expectKeptOut(sale);
    const { waits } = await startWaiting(sale);
    await lab.advance(1_000);
    expect(waits.state).toBe('pending');

    await release(look);

    await lab.done(waits, 20);
  });
});

describe('read-write: a writer that waits', () => {
  test('is not starved by readers that come without end, and they go on after it', async () => {
    let isOver = false;
    let count = 0;
    /** Each reads for 30 ms, and another one comes every 20 ms. */
    async function readWithoutEnd() {
      const p = lab.process('read-write');
      const reads: Promise<void>[] = [];
      while (!isOver) {
        reads.push(
          (async () => {
            const look = p.readLock();
            await look.acquire();
            await p.world.sleep(30);
            count += 1;
            await look.release();
          })(),
        );
        await p.world.sleep(20);
      }
      await Promise.all(reads);
    }
    const ended = readWithoutEnd();
    await lab.advance(100);
    const sale = writer();

    await lab.done(sale.acquire(), 100);
    const before = count;
    await lab.advance(100);
    expect(count).toBe(before);
    await release(sale);

    await lab.advance(100);
    isOver = true;
    await lab.done(ended);
    expect(count).toBeGreaterThan(before);
  });

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

  test('that gives up leaves the mark of another one that waits', async () => {
    const patience = new AbortController();
    await acquire(reader());
    await startWaiting(writer(), patience.signal);
    await startWaiting(writer({ ownerToken: 'other' }));

    patience.abort();
    await lab.advance(0);

    expect(lab.redis('GET', MARK)).toBe('other');
  });

  test('that has died keeps readers out for little more than a second', async () => {
    await acquire(reader());
    const p = lab.process('read-write');
    await startWaiting(p.lock());
    p.kill();

    await lab.done(reader().acquire());

    // The mark lasts for the pause between two tries, and a second.
    expect(lab.now()).toBe(1_021);
  });

  test('who only tries keeps nobody out', async () => {
    await acquire(reader());

    await expectKeptOut(writer());

    await acquire(reader());
  });
});

describe('read-write: who gives up', () => {
  test.each([
    ['a reader that waits for a writer', 'readLock', 'lock', 'hold'],
    ['a writer that waits for a reader', 'lock', 'readLock', 'hold'],
    ['a reader that waits for a writer', 'readLock', 'lock', 'holdAnswer'],
    ['a writer that waits for a reader', 'lock', 'readLock', 'holdAnswer'],
  ] as const)('%s leaves nothing, also when its try is under way', async (_, waiter, holder, moment) => {
    const [p, q] = lab.processes('read-write', 2);
    const inside = p[holder]();
    await acquire(inside);
    const patience = new AbortController();
    const trying = q[moment](undefined, 1);
    const { waits } = await startWaiting(q[waiter](), patience.signal);

    patience.abort();
    trying.letGo();

    await expect(lab.done(waits, 0)).rejects.toMatchObject(aborted);
    await lab.advance(0);
    expect(lab.redis('EXISTS', MARK)).toBe(0);
    await release(inside);
    expect(keys()).toEqual([]);
  });

  test.each(['readLock', 'lock'] as const)('one that is let in while it gives up holds: %s', async (kind) => {
    const p = lab.process('read-write');
    const patience = new AbortController();
    const answer = p.holdAnswer(undefined, 1);
    const lock = p[kind]();
    const { waits: entered } = await startWaiting(lock, patience.signal);

    patience.abort();
    answer.letGo();
    await lab.done(entered, 0);

    await release(lock);
    expect(keys()).toEqual([]);
  });
});

describe('read-write: the lease of a reader', () => {
  test('that has died keeps a writer out for its own lease, and no longer', async () => {
    const p = lab.process('read-write');
    await acquire(p.readLock({ leaseMs: LEASE_MS }));
    p.kill();

    await lab.done(writer().acquire());

    expect(lab.now()).toBe(LEASE_MS);
  });

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

  test('a reader reads once more, by the same object and by another one, and stays until the last release', async () => {
    const [look, again] = ofOneRequest('readLock', 'readLock');
    await acquire(look);
    await acquire(look);
    await acquire(again);

    await release(look, look);
    await expectKeptOut(writer());
    await release(again);

    await expect(lab.done(again.release())).rejects.toMatchObject(notHeld);
    await acquire(writer());
  });

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

  test('a writer that reads may write once more', async () => {
    const [sale, look, again] = ofOneRequest('lock', 'readLock', 'lock');
    for (const lock of [sale, look, again]) await acquire(lock);

    await release(again, look, sale);

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

  test('two readers that both ask to write are both refused: neither waits for the other', async () => {
    const processes = { one: lab.process('read-write'), other: lab.process('read-write') };
    for (const [ownerToken, p] of Object.entries(processes)) await acquire(p.readLock({ ownerToken }));

    for (const [ownerToken, p] of Object.entries(processes))
      await expect(lab.done(p.lock({ ownerToken }).acquire(), 0)).rejects.toMatchObject(upgrade);
  });
});
