import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createLock, createReadLock } from '../../../locks/beyond/read-write.ts';
import type { LockOptions } from '../../../locks/lock.ts';
import { atLeast, atMost } from '../../machine.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { startHolder } from '../start-holder.ts';
import { watchClient } from '../watched-client.ts';

const { url, connect, key } = ownRedis();

/** Short enough to see leases end, long enough that a busy machine renews in time. */
const LEASE_MS = 300;
const upgrade = { name: 'LockUpgradeError', code: 'LOCK_UPGRADE' };
const onceOnly = AbortSignal.abort();

const options = (given: Partial<LockOptions> = {}) => lockOptions({ redis: connect(), key: key(), ...given });
const writer = (given?: Partial<LockOptions>) => createLock(options(given));
const reader = (given?: Partial<LockOptions>) => createReadLock(options(given));
/** A sale that has died: its process is gone, and its lease runs on. */
const dead = { onLeaseLost() {} };

/** A reader, or a writer, that tries once and is kept out. */
const isKeptOut = (lock: { acquire(signal: AbortSignal): Promise<void> }) =>
  expect(lock.acquire(onceOnly)).rejects.toMatchObject(aborted);

describe('read-write: who is inside', () => {
  test('many readers at once, of many clients, and each gives up its own hold', async () => {
    const readers = Array.from({ length: 20 }, () => reader());
    for (const lock of readers) await lock.acquire(onceOnly);
    const late = writer();

    for (const lock of readers.slice(1)) await lock.release();
    await isKeptOut(late);
    await readers[0]?.release();

    await late.acquire(onceOnly);
    await late.release();
    expect(await connect().keys(`${key()}*`)).toEqual([]);
  });

  test('no reader while a writer is inside, and each in turn when it has left', async () => {
    const [sale, look, other] = [writer(), reader(), reader()];
    await sale.acquire();
    await isKeptOut(look);
    const waits = look.acquire();
    waits.catch(() => {});
    await isKeptOut(writer());

    await sale.release();
    await waits;

    await other.acquire(onceOnly);
    await look.release();
    await other.release();
  });

  test('no writer while a reader is inside', async () => {
    const [sale, look] = [writer(), reader()];
    await look.acquire();
    await isKeptOut(sale);
    let hasEntered = false;
    const waits = sale.acquire().then(() => (hasEntered = true));
    for (let round = 0; round < 50; round += 1) await connect().ping();
    expect(hasEntered).toBe(false);

    await look.release();
    await waits;

    await sale.release();
  });

  test('a writer in another process keeps readers out, and readers keep it out', async () => {
    const look = reader();
    await look.acquire();
    const sale = await startHolder({ stage: 'read-write', url: url(), key: key(), until: 'asking' });
    while ((await connect().exists(`${key()}:waiting`)) === 0);
    expect(sale.said).not.toContain('entered');

    await look.release();
    await sale.untilSaid('entered');
    await isKeptOut(look);
    sale.resume();
    await sale.untilSaid('released');

    await look.acquire(onceOnly);
    await look.release();
  });
});

describe('read-write: a writer that waits', () => {
  /** Readers without end: each enters before the one before it leaves. Resolves with how many have been inside when it is told to end. */
  function readWithoutEnd() {
    let isOver = false;
    async function run() {
      let before = reader();
      await before.acquire();
      let count = 1;
      for (; !isOver; count += 1) {
        const next = reader();
        const entered = next.acquire();
        // One that is kept out comes in when the writer has left.
        const isIn = await Promise.race([entered.then(() => true), sleep(50, false)]);
        if (!isIn) await before.release();
        await entered;
        if (isIn) await before.release();
        before = next;
      }
      await before.release();
      return count;
    }
    const ended = run();
    return {
      end() {
        isOver = true;
        return ended;
      },
    };
  }

  test('is not starved by readers that come without end, and they go on after it', async () => {
    const stream = readWithoutEnd();
    while ((await connect().exists(`${key()}:readers`)) === 0);
    const sale = writer({ retryDelayMs: 20 });

    await sale.acquire(AbortSignal.timeout(5_000));
    await sale.release();

    const count = await stream.end();
    expect(count).toBeGreaterThan(0);
  });

  test('keeps new readers out, not those who read already', async () => {
    const [first, second] = [reader({ ownerToken: 'first' }), reader()];
    const sale = writer({ retryDelayMs: 20 });
    await first.acquire();
    const waits = sale.acquire();
    while ((await connect().exists(`${key()}:waiting`)) === 0);

    await isKeptOut(second);
    await first.acquire(onceOnly);
    await first.release();
    await first.release();

    await waits;
    await sale.release();
  });

  test('keeps readers out while it waits, and they enter as soon as it has left', async () => {
    const [first, second] = [reader(), reader()];
    const sale = writer({ retryDelayMs: 20 });
    await first.acquire();
    const waits = sale.acquire();
    while ((await connect().exists(`${key()}:waiting`)) === 0);
    await first.release();
    await waits;
    await isKeptOut(second);

    await sale.release();

    await second.acquire(onceOnly);
    await second.release();
  });

  test('that gives up lets readers in again at once', async () => {
    const [first, second] = [reader(), reader()];
    const patience = new AbortController();
    await first.acquire();
    // Its mark would last for longer than a minute.
    const waits = writer({ retryDelayMs: 60_000 }).acquire(patience.signal);
    while ((await connect().exists(`${key()}:waiting`)) === 0);

    patience.abort();
    await expect(waits).rejects.toMatchObject(aborted);
    for (let round = 0; round < 50; round += 1) await connect().ping();

    await second.acquire(onceOnly);
    await first.release();
    await second.release();
  });

  test('that gives up leaves the mark of another one that waits', async () => {
    const redis = connect();
    const look = reader();
    const patience = new AbortController();
    await look.acquire();
    const [one, other] = [writer({ retryDelayMs: 20 }), writer({ ownerToken: 'other', retryDelayMs: 20 })];
    const given = one.acquire(patience.signal);
    const waits = other.acquire();
    while ((await redis.get(`${key()}:waiting`)) !== 'other');

    patience.abort();
    await expect(given).rejects.toMatchObject(aborted);
    // It asks again and again, and so its mark is there for good.
    await sleep(60);
    expect(await redis.exists(`${key()}:waiting`)).toBe(1);

    await look.release();
    await waits;
    await other.release();
  });

  test('that has died keeps readers out for little more than a second', async () => {
    const look = reader();
    await look.acquire();
    const sale = await startHolder({ stage: 'read-write', url: url(), key: key(), until: 'asking' });
    while ((await connect().exists(`${key()}:waiting`)) === 0);
    await sale.kill();
    const diedAt = performance.now();

    const next = reader();
    await next.acquire(AbortSignal.timeout(10_000));

    expect(performance.now() - diedAt).toBeLessThan(atMost(1_500));
    await next.release();
    await look.release();
  });

  test('who only tries keeps nobody out', async () => {
    const [first, second] = [reader(), reader()];
    await first.acquire();

    await isKeptOut(writer());

    await second.acquire(onceOnly);
    await first.release();
    await second.release();
  });
});

describe('read-write: who gives up', () => {
  test.each([
    ['a reader that waits for a writer', reader, writer],
    ['a writer that waits for a reader', writer, reader],
    ['a writer that waits for a writer', writer, writer],
  ])('%s leaves nothing, also when its try is under way', async (_, waiter, holder) => {
    const redis = connect();
    const inside = holder();
    await inside.acquire();
    for (const moment of ['before', 'behind'] as const) {
      const watch = watchClient(connect());
      const patience = new AbortController();
      const tried = moment === 'before' ? watch.hold('evalsha') : watch.holdAnswer('evalsha');
      const waits = waiter({ redis: watch.client }).acquire(patience.signal);
      await tried.reached;

      patience.abort();
      tried.letGo();

      await expect(waits).rejects.toMatchObject(aborted);
      for (let round = 0; round < 50; round += 1) await watch.client.ping();
      expect(await redis.exists(`${key()}:waiting`)).toBe(0);
    }
    await inside.release();
    expect(await redis.keys(`${key()}*`)).toEqual([]);
  });

  test.each([
    ['reader', reader],
    ['writer', writer],
  ])('a %s that is let in while it gives up holds, and can be released', async (_, waiter) => {
    const watch = watchClient(connect());
    const patience = new AbortController();
    const tried = watch.holdAnswer('evalsha');
    const lock = waiter({ redis: watch.client });
    const entered = lock.acquire(patience.signal);
    await tried.reached;

    patience.abort();
    tried.letGo();
    await entered;

    await lock.release();
    expect(await connect().keys(`${key()}*`)).toEqual([]);
  });
});

describe('read-write: a lease', () => {
  test('a reader that has died keeps a writer out for its own lease, and no longer', async () => {
    const redis = connect();
    const asked = performance.now();
    // It renews nothing: its connection is gone.
    const gone = connect();
    await createReadLock(options({ redis: gone, leaseMs: LEASE_MS, ...dead })).acquire();
    gone.disconnect();
    const sale = writer({ redis });

    await isKeptOut(sale);
    await sale.acquire(AbortSignal.timeout(10_000));

    expect(performance.now() - asked).toBeGreaterThanOrEqual(atLeast(LEASE_MS));
    expect(performance.now() - asked).toBeLessThan(atMost(2 * LEASE_MS));
    await sale.release();
  });

  test('is renewed for as long as a reader reads', async () => {
    const watch = watchClient(connect());
    const look = reader({ redis: watch.client, leaseMs: LEASE_MS });
    await look.acquire();

    while (watch.sent.length < 5) await sleep(10);
    await isKeptOut(writer());

    expect(look.lost?.aborted).toBe(false);
    await look.release();
    const sent = watch.sent.length;
    await sleep(LEASE_MS);
    expect(watch.sent).toHaveLength(sent);
  });

  test('a reader that has lost it is told, and its release says so', async () => {
    let losses = 0;
    const look = reader({ leaseMs: LEASE_MS, onLeaseLost: () => (losses += 1) });
    await look.acquire();
    const lost = once(look.lost as AbortSignal, 'abort');

    await connect().del(`${key()}:readers`, `${key()}:leases`);
    await lost;

    expect(losses).toBe(1);
    expect(look.lost?.reason).toMatchObject(notHeld);
    await expect(look.release()).rejects.toMatchObject(notHeld);
  });

  test('a writer that has lost it is told, and its release says so', async () => {
    let losses = 0;
    const sale = writer({ leaseMs: LEASE_MS, onLeaseLost: () => (losses += 1) });
    await sale.acquire();
    const lost = once(sale.lost as AbortSignal, 'abort');

    await connect().del(key());
    await lost;

    expect(losses).toBe(1);
    await expect(sale.release()).rejects.toMatchObject(notHeld);
  });

  test('the release of one who never read is refused', async () => {
    await expect(reader().release()).rejects.toMatchObject(notHeld);
  });
});

describe('read-write: re-entry', () => {
  const ownerToken = 'ours';

  test('a reader reads once more, by the same object and by another one, and stays until the last release', async () => {
    const [look, again] = [reader({ ownerToken }), reader({ ownerToken })];
    await look.acquire();
    await look.acquire(onceOnly);
    await again.acquire(onceOnly);

    await look.release();
    await look.release();
    await isKeptOut(writer());
    await again.release();

    await expect(again.release()).rejects.toMatchObject(notHeld);
  });

  test('a writer writes once more, by the same object and by another one', async () => {
    const [sale, again] = [writer({ ownerToken }), writer({ ownerToken })];
    await sale.acquire();
    await sale.acquire(onceOnly);
    await again.acquire(onceOnly);

    await sale.release();
    await sale.release();
    await isKeptOut(reader());
    await again.release();

    await expect(again.release()).rejects.toMatchObject(notHeld);
  });

  test('a writer reads as well, and goes on reading when it no longer writes', async () => {
    const [sale, look, other] = [writer({ ownerToken }), reader({ ownerToken }), reader()];
    await sale.acquire();
    await look.acquire(onceOnly);
    await isKeptOut(other);

    await sale.release();

    await other.acquire(onceOnly);
    await other.release();
    await isKeptOut(writer());
    await look.release();
    expect(await connect().keys(`${key()}*`)).toEqual([]);
  });

  test('a writer that reads may write once more', async () => {
    const [sale, look, again] = [writer({ ownerToken }), reader({ ownerToken }), writer({ ownerToken })];
    await sale.acquire();
    await look.acquire();

    await again.acquire(onceOnly);

    for (const lock of [again, look, sale]) await lock.release();
  });

  test('a reader that asks to write is refused at once, and goes on reading', async () => {
    const [look, sale] = [reader({ ownerToken }), writer({ ownerToken, retryDelayMs: 60_000 })];
    await look.acquire();

    await expect(sale.acquire(AbortSignal.timeout(2_000))).rejects.toMatchObject(upgrade);

    await isKeptOut(writer());
    await look.release();
    await sale.acquire(onceOnly);
    await sale.release();
  });

  test('two readers that both ask to write are both refused: neither waits for the other', async () => {
    for (const ownerToken of ['one', 'other']) await reader({ ownerToken, ...dead }).acquire();

    for (const ownerToken of ['one', 'other']) {
      await expect(writer({ ownerToken }).acquire()).rejects.toMatchObject(upgrade);
      await reader({ ownerToken })
        .release()
        .catch(() => {});
    }

    expect(await connect().keys(`${key()}*`)).toEqual([]);
  });
});
