import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createLock, createMultiLock } from '../../../locks/beyond/multi.ts';
import type { LockOptions, RedisClient } from '../../../locks/lock.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key } = ownRedis();
/** Three keys of this test, in their order. */
const keys = () => ['a', 'b', 'c'].map((name) => `${key()}:${name}`);
const [first, second, third] = [() => keys()[0] ?? '', () => keys()[1] ?? '', () => keys()[2] ?? ''];

/** A new holder of several keys. */
function openLocks(redis: RedisClient, named: string[], given: Partial<LockOptions> = {}) {
  return createMultiLock(lockOptions({ redis, key: key(), ...given }), named);
}

/** The names of the keys whose locks are taken. */
async function taken(): Promise<string[]> {
  const redis = connect();
  const there = await Promise.all(keys().map((each) => redis.exists(each)));
  return ['a', 'b', 'c'].filter((_, at) => there[at] === 1);
}

const clear = () => connect().del(keys().flatMap((each) => [each, `${each}:tokens`, `${each}:count`]));

describe('multi: the order', () => {
  test.each([
    ['as they are', [0, 1, 2]],
    ['the other way round', [2, 1, 0]],
    ['from the middle', [1, 2, 0]],
  ])('the locks are taken in the order of their keys when they are named %s', async (_, order) => {
    const other = createLock(lockOptions({ redis: connect(), key: second() }));
    await other.acquire();
    const locks = openLocks(
      connect(),
      order.map((at) => keys()[at] ?? ''),
    );

    const acquired = locks.acquire();
    await until(async () => (await taken()).length === 2);
    await sleep(50);

    expect(await taken()).toEqual(['a', 'b']);
    await other.release();
    await acquired;
    expect(await taken()).toEqual(['a', 'b', 'c']);
    await locks.release();
    expect(await taken()).toEqual([]);
    await clear();
  });

  test('two holders that name two keys in opposite orders both get in, fifty times', async () => {
    const stock = connect();
    const counts = [first(), second()].map((each) => `${each}:count`);
    async function sell(named: string[]) {
      const redis = connect();
      for (let round = 0; round < 50; round += 1) {
        const locks = openLocks(redis, named);
        await locks.acquire();
        const before = await Promise.all(counts.map((count) => redis.get(count)));
        for (const [at, count] of counts.entries()) await redis.set(count, Number(before[at]) + 1);
        await locks.release();
      }
    }

    await Promise.all([sell([first(), second()]), sell([second(), first()])]);

    expect(await stock.mget(counts)).toEqual(['100', '100']);
    await clear();
  });

  test('a key that is named twice is one lock', async () => {
    const locks = openLocks(connect(), [first(), second(), first()]);

    await locks.acquire();
    await locks.release();

    expect(await taken()).toEqual([]);
    await clear();
  });

  test('its locks are those of one sku: a sale of one keeps the basket out, and a basket the sale', async () => {
    const one = createLock(lockOptions({ redis: connect(), key: second() }));
    const locks = openLocks(connect(), keys());
    await one.acquire();
    await expect(locks.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    await one.release();
    await locks.acquire();

    await expect(one.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    await locks.release();
    await clear();
  });
});

describe('multi: all or nothing', () => {
  test.each([0, 1, 2])('a wait for lock %i that is aborted leaves none taken', async (at) => {
    const other = createLock(lockOptions({ redis: connect(), key: keys()[at] ?? '' }));
    await other.acquire();
    const wait = new AbortController();
    const acquired = openLocks(connect(), keys()).acquire(wait.signal);
    acquired.catch(() => {});
    await until(async () => (await taken()).length === at + 1);

    wait.abort();

    await expect(acquired).rejects.toMatchObject(aborted);
    expect(await taken()).toEqual([['a', 'b', 'c'][at]]);
    await other.release();
    await clear();
  });

  test('a signal that is aborted already: each is tried once, and all are taken or none', async () => {
    const other = createLock(lockOptions({ redis: connect(), key: third() }));
    const locks = openLocks(connect(), keys());
    await other.acquire();
    await expect(locks.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    expect(await taken()).toEqual(['c']);
    await other.release();

    await locks.acquire(AbortSignal.abort());

    expect(await taken()).toEqual(['a', 'b', 'c']);
    await locks.release();
    await clear();
  });

  test('an error of the server at one of them gives the others back, and is what it rejects with', async () => {
    const watch = watchClient(connect());
    const locks = openLocks(watch.client, keys());
    const held = watch.holdAnswer('evalsha');
    const acquired = locks.acquire();
    acquired.catch(() => {});
    await held.reached;
    watch.fail('evalsha', new Error('the server is away'));

    held.letGo();

    await expect(acquired).rejects.toThrow('the server is away');
    expect(await taken()).toEqual([]);
    await clear();
  });

  test('what it has is renewed while it waits for the next', async () => {
    const leaseMs = 300;
    const other = createLock(lockOptions({ redis: connect(), key: second() }));
    await other.acquire();
    const locks = openLocks(connect(), keys(), { leaseMs });
    const acquired = locks.acquire();
    await until(async () => (await taken()).includes('a'));

    await sleep(3 * leaseMs);

    expect(await taken()).toEqual(['a', 'b']);
    await other.release();
    await acquired;
    await locks.release();
    await clear();
  });

  test('one that it loses while it waits for the next: it never enters, and gives the next one back', async () => {
    let losses = 0;
    const other = createLock(lockOptions({ redis: connect(), key: second() }));
    await other.acquire();
    const locks = openLocks(connect(), keys(), {
      leaseMs: 150,
      onLeaseLost: () => {
        losses += 1;
      },
    });
    const acquired = locks.acquire();
    acquired.catch(() => {});
    await until(async () => (await taken()).includes('a'));
    await connect().del(first());
    await until(async () => locks.lost.aborted);

    await other.release();

    await expect(acquired).rejects.toMatchObject(notHeld);
    expect([losses, await taken()]).toEqual([1, []]);
    await clear();
  });
});

describe('multi: giving up', () => {
  test.each([0, 1, 2])(
    'when lock %i is no longer held the others are given up all the same, and it says so',
    async (at) => {
      const locks = openLocks(connect(), keys());
      await locks.acquire();
      await connect().del(keys()[at] ?? '');

      await expect(locks.release()).rejects.toMatchObject(notHeld);

      expect(await taken()).toEqual([]);
      await clear();
    },
  );

  test('a release that is not answered counts more than a lock that was lost: it may still be held', async () => {
    const watch = watchClient(connect());
    const locks = openLocks(watch.client, keys());
    await locks.acquire();
    await connect().del(third());
    // The last one is given up first.
    watch.nextAnswer('evalsha');
    watch.fail('evalsha', new Error('the server is away'));

    await expect(locks.release()).rejects.toThrow('the server is away');

    expect(await taken()).toEqual(['b']);
    await connect().del(second());
    await clear();
  });
});

describe('multi: losing', () => {
  test.each([0, 1, 2])('when lock %i is lost the holder is told, once', async (at) => {
    const losses: number[] = [];
    const locks = openLocks(connect(), keys(), { leaseMs: 300, onLeaseLost: () => losses.push(at) });
    await locks.acquire();
    const lost = new Promise((resolve) => locks.lost.addEventListener('abort', resolve));

    await connect().del(keys()[at] ?? '');
    await Promise.race([lost, sleep(3_000)]);

    expect(locks.lost.reason).toMatchObject({ ...notHeld, message: expect.stringContaining(keys()[at] ?? '') });
    await connect().del(keys());
    await sleep(300);
    expect(losses).toEqual([at]);
    await expect(locks.release()).rejects.toMatchObject(notHeld);
    await clear();
  });

  test('each key has the fencing token of its own lock', async () => {
    const one = createLock(lockOptions({ redis: connect(), key: second() }));
    for (let time = 0; time < 2; time += 1) {
      await one.acquire();
      await one.release();
    }
    const locks = openLocks(connect(), keys());

    await locks.acquire();

    expect(keys().map(locks.fencingTokenOf)).toEqual(['1', '3', '1']);
    expect(locks.fencingTokenOf('another key')).toBeUndefined();
    await locks.release();
    await clear();
  });
});
