import { execFile } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { beyond, lockName, locks } from '../../locks/index.ts';
import { type CreateLock, LockNotHeldError } from '../../locks/lock.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { atMost } from '../machine.ts';
import { aborted, lockOptions, notHeld } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';
import { startHolder } from './start-holder.ts';
import { watchClient } from './watched-client.ts';

/** The locks beyond stage 8 that live in one Redis, whichever it is: the same contract, and one more. */
const renewed = Object.entries(beyond).flatMap(([name, strategy]) =>
  strategy.backend === 'redis' && 'createLock' in strategy && strategy.commands === undefined
    ? [[name, strategy.createLock] as const]
    : [],
);
const all = [...Object.entries(locks), ...renewed];
/** Stage 0 protects nothing. */
const guarding = all.slice(1);
/** A holder may ask again. */
const reentrant = all.slice(7);
/** Stage 1 is a lock for one process: it knows of no other. */
const shared = all.slice(2);

/** `replicated` lets nobody in without a replica. */
const { url, connect, key, signal } = ownRedis({ hasReplica: true });

// The fencing tokens of a lock go on for ever.
afterEach(async () => {
  await connect().del(`${key()}:tokens`, `${key()} (other):tokens`);
});

/** Starts a waiter on a lock that somebody holds, and resolves when it sleeps between two tries. */
async function startWaiter(createLock: CreateLock, retryDelayMs: number) {
  const redis = connect();
  const watch = watchClient(redis);
  const patience = new AbortController();
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), retryDelayMs }));
  const entered = lock.acquire(patience.signal);
  entered.catch(() => {});
  // Redis answers in order: the first try has its answer now.
  await redis.ping();
  return { lock, entered, patience, sent: watch.sent };
}

describe('a free lock', () => {
  test.each(all)('%s: is acquired, released and acquired again by the next holder', async (_stage, createLock) => {
    const redis = connect();
    const a = createLock(lockOptions({ redis, key: key() }));
    const b = createLock(lockOptions({ redis, key: key() }));

    await a.acquire();
    await a.release();
    await b.acquire();
    await b.release();

    expect(await redis.exists(key())).toBe(0);
  });

  test.each(all)('%s: is acquired at the one try of a signal that is aborted already', async (_stage, createLock) => {
    const lock = createLock(lockOptions({ redis: connect(), key: key() }));

    await lock.acquire(AbortSignal.abort());

    await lock.release();
  });

  test.each(all)('%s: is acquired while another key is held', async (_stage, createLock) => {
    const redis = connect();
    const other = createLock(lockOptions({ redis, key: `${key()} (other)` }));
    const lock = createLock(lockOptions({ redis, key: key() }));
    await other.acquire();

    await lock.acquire(AbortSignal.abort());

    await lock.release();
    await other.release();
  });

  test.each(shared)(
    '%s: is not acquired when Redis does not answer, and the error is passed on',
    async (_stage, createLock) => {
      const redis = connect();
      const watch = watchClient(redis);
      const lock = createLock(lockOptions({ redis: watch.client, key: key() }));
      const noAnswer = new Error('Connection is closed.');
      watch.fail('set', noAnswer);
      watch.fail('evalsha', noAnswer);

      await expect(lock.acquire()).rejects.toBe(noAnswer);

      expect(await redis.exists(key())).toBe(0);
    },
  );
});

describe('a held lock', () => {
  test.each(guarding)('%s: keeps every other holder of this process out', async (_stage, createLock) => {
    const redis = connect();
    const a = createLock(lockOptions({ redis, key: key() }));
    const b = createLock(lockOptions({ redis, key: key() }));
    await a.acquire();

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    await a.release();
    await b.acquire(AbortSignal.abort());
    await b.release();
  });

  test.each(guarding)('%s: keeps holders on other connections out', async (_stage, createLock) => {
    const a = createLock(lockOptions({ redis: connect(), key: key() }));
    const b = createLock(lockOptions({ redis: connect(), key: key() }));
    await a.acquire();

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    await a.release();
    await b.acquire(AbortSignal.abort());
    await b.release();
  });

  test.each(shared)('%s: keeps the holders of another process out', async (stage, createLock) => {
    const b = createLock(lockOptions({ redis: connect(), key: key() }));
    const a = await startHolder({ stage, url: url(), key: key() });

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    a.resume();
    await a.untilSaid('released');
    await b.acquire(AbortSignal.abort());
    await b.release();
  });

  test.each(guarding)('%s: lets a waiter in when it is released, and not before', async (_stage, createLock) => {
    const events: string[] = [];
    const a = createLock(lockOptions({ redis: connect(), key: key() }));
    await a.acquire();
    const b = await startWaiter(createLock, 1);
    const entered = b.entered.then(() => events.push('b enters'));

    events.push('a leaves');
    await a.release();
    await entered;

    expect(events).toEqual(['a leaves', 'b enters']);
    await b.lock.release();
  });

  test.each(guarding)('%s: is tried once with a signal that is aborted already', async (_stage, createLock) => {
    const redis = connect();
    const watch = watchClient(redis);
    const a = createLock(lockOptions({ redis, key: key() }));
    const b = createLock(lockOptions({ redis: watch.client, key: key() }));
    await a.acquire();

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    await a.release();
    await sleep(20);

    expect(watch.sent.length).toBeLessThanOrEqual(1);
    await a.acquire(AbortSignal.abort());
    await a.release();
  });
});

describe('a request that holds, and asks again by another lock object', () => {
  test.each(reentrant)(
    '%s: is let in before those who wait, and holds until its last release',
    async (_stage, createLock) => {
      const redis = connect();
      const options = lockOptions({ redis, key: key() });
      const outer = createLock(options);
      await outer.acquire();
      // On the same connection: a lock may have a queue in each process.
      const waiter = createLock(lockOptions({ redis, key: key() }));
      const entered = waiter.acquire();
      await redis.ping();
      let isIn = false;
      void entered.then(() => (isIn = true));
      const inner = createLock({ ...options });

      await inner.acquire(AbortSignal.timeout(5_000));
      await inner.release();
      await redis.ping();

      expect(isIn).toBe(false);
      await expect(createLock(lockOptions({ redis, key: key() })).acquire(AbortSignal.abort())).rejects.toMatchObject(
        aborted,
      );
      await outer.release();
      await entered;
      await waiter.release();
      expect(await redis.exists(key())).toBe(0);
    },
  );
});

describe('an abort', () => {
  test.each(guarding)('%s: ends the wait at once, not at the next try', async (_stage, createLock) => {
    const a = createLock(lockOptions({ redis: connect(), key: key() }));
    await a.acquire();
    const b = await startWaiter(createLock, 60_000);

    const abortedAt = performance.now();
    b.patience.abort();

    await expect(b.entered).rejects.toMatchObject(aborted);
    expect(performance.now() - abortedAt).toBeLessThan(5_000);
    await a.release();
  });

  test.each(guarding)('%s: carries the reason of the signal as its cause', async (_stage, createLock) => {
    const reason = new Error('The client has gone.');
    const a = createLock(lockOptions({ redis: connect(), key: key() }));
    const b = createLock(lockOptions({ redis: connect(), key: key() }));
    await a.acquire();
    const waiter = await startWaiter(createLock, 60_000);

    waiter.patience.abort(reason);

    await expect(waiter.entered).rejects.toMatchObject({ ...aborted, cause: reason });
    await expect(b.acquire(AbortSignal.abort(reason))).rejects.toMatchObject({ ...aborted, cause: reason });
    await a.release();
  });

  test.each(guarding)('%s: leaves a waiter that never enters afterwards', async (_stage, createLock) => {
    const a = createLock(lockOptions({ redis: connect(), key: key() }));
    const c = createLock(lockOptions({ redis: connect(), key: key() }));
    await a.acquire();
    const b = await startWaiter(createLock, 1);

    b.patience.abort();
    await expect(b.entered).rejects.toMatchObject(aborted);
    const sent = [...b.sent];
    await a.release();
    await sleep(20);

    expect(b.sent).toEqual(sent);
    await c.acquire(AbortSignal.abort());
    await c.release();
  });

  test.each(shared)(
    '%s: during the last try leaves a waiter that is either inside or knows of it',
    async (_stage, createLock) => {
      const redis = connect();
      const watch = watchClient(redis);
      const patience = new AbortController();
      const a = createLock(lockOptions({ redis, key: key() }));
      const b = createLock(lockOptions({ redis: watch.client, key: key() }));
      await a.acquire();
      const tries = [watch.hold('set'), watch.hold('evalsha')];

      const entered = b.acquire(patience.signal);
      await Promise.race(tries.map((held) => held.reached));
      patience.abort();
      await a.release();
      for (const held of tries) held.letGo();

      const isInside = await entered.then(
        () => true,
        () => false,
      );
      expect(await redis.exists(key())).toBe(isInside ? 1 : 0);
      if (isInside) await b.release();
    },
  );
});

describe('a release', () => {
  test.each(guarding)('%s: rejects when the lock was never acquired', async (_stage, createLock) => {
    const lock = createLock(lockOptions({ redis: connect(), key: key() }));

    const error = await lock.release().catch((reason) => reason);

    expect(error).toBeInstanceOf(LockNotHeldError);
    expect(error).toMatchObject(notHeld);
    expect(error.message).toContain(key());
  });

  test.each(guarding)('%s: rejects the second time', async (_stage, createLock) => {
    const lock = createLock(lockOptions({ redis: connect(), key: key() }));
    await lock.acquire();
    await lock.release();

    await expect(lock.release()).rejects.toMatchObject(notHeld);
  });

  test.each(shared)('%s: passes on that Redis did not answer, and can be tried again', async (_stage, createLock) => {
    const redis = connect();
    const watch = watchClient(redis);
    const lock = createLock(lockOptions({ redis: watch.client, key: key() }));
    const noAnswer = new Error('Connection is closed.');
    await lock.acquire();
    watch.fail('del', noAnswer);
    watch.fail('evalsha', noAnswer);

    await expect(lock.release()).rejects.toBe(noAnswer);
    await lock.release();

    expect(await redis.exists(key())).toBe(0);
  });
});

describe('a lock that is lost', () => {
  test.each(renewed)('%s: says so once, with the error of a release', async (_stage, createLock) => {
    const leaseMs = 300;
    const redis = connect();
    let losses = 0;
    const onLeaseLost = () => (losses += 1);
    const a = createLock(lockOptions({ redis, key: key(), leaseMs, onLeaseLost }));
    const b = createLock(lockOptions({ redis: connect(), key: key() }));
    await a.acquire();
    expect(a.lost?.aborted).toBe(false);
    const lost = once(a.lost as AbortSignal, 'abort');

    await redis.del(key()); // The lease of A ends.
    await b.acquire(AbortSignal.abort());
    await lost;
    await sleep(leaseMs);

    expect(a.lost?.reason).toMatchObject(notHeld);
    expect(losses).toBe(1);
    await expect(a.release()).rejects.toMatchObject(notHeld);
    await b.release();
  });

  test.each(renewed)('%s: is lost when its lease is over and no renewal was answered', async (_stage, createLock) => {
    const leaseMs = 300;
    const redis = connect();
    let losses = 0;
    const a = createLock(lockOptions({ redis, key: key(), leaseMs, onLeaseLost: () => (losses += 1) }));
    await a.acquire();
    const heldAt = performance.now();

    signal('SIGSTOP');
    try {
      await once(a.lost as AbortSignal, 'abort', { signal: AbortSignal.timeout(5_000) });
    } finally {
      signal('SIGCONT');
    }

    expect(performance.now() - heldAt).toBeLessThan(atMost(1_000));
    expect(losses).toBe(1);
    // A renewal may have come through, so what Redis still has is given back.
    await a.release().catch((error) => expect(error).toMatchObject(notHeld));
    expect(await redis.exists(key())).toBe(0);
  });

  test.each(renewed)('%s: is not lost while it is renewed, nor when it is released', async (_stage, createLock) => {
    const redis = connect();
    const a = createLock(lockOptions({ redis, key: key(), leaseMs: 300 }));
    const b = createLock(lockOptions({ redis, key: key() }));
    await a.acquire();
    await a.acquire();

    // Longer than a lease, and less than the two leases that every one of them may be held.
    await sleep(450);

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    await a.release();
    await a.release();
    await sleep(150);
    expect(a.lost?.aborted).toBe(false);
  });
});

describe('what is left behind', () => {
  test.each(guarding)(
    '%s: no listener on a signal, whether the wait was aborted or not',
    async (_stage, createLock) => {
      const a = createLock(lockOptions({ redis: connect(), key: key() }));
      await a.acquire();
      const b = await startWaiter(createLock, 1);
      const c = await startWaiter(createLock, 60_000);
      const listenersOfC = getEventListeners(c.patience.signal, 'abort').length;

      c.patience.abort();
      await expect(c.entered).rejects.toMatchObject(aborted);
      await a.release();
      await b.entered;

      expect(listenersOfC).toBeLessThanOrEqual(1);
      expect(getEventListeners(c.patience.signal, 'abort')).toEqual([]);
      expect(getEventListeners(b.patience.signal, 'abort')).toEqual([]);
      await b.lock.release();
    },
  );

  test('every lock: no timer', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...(await bundledArgs('test/locks/timers-process.ts')),
      url(),
      key(),
    ]);

    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(all.map(([stage]) => [stage, 0])));
  });
});

describe('50 contenders that read, pause and write', () => {
  const CONTENDERS = 50;

  async function contend(createLock: CreateLock) {
    const connections = [connect(), connect()] as const;
    let shared = 0;
    let inside = 0;
    let mostInside = 0;
    await Promise.all(
      Array.from({ length: CONTENDERS }, async (_, index) => {
        const lock = createLock(lockOptions({ redis: connections[index % 2] ?? connections[0], key: key() }));
        await lock.acquire();
        inside += 1;
        mostInside = Math.max(mostInside, inside);
        const read = shared;
        await sleep(1);
        shared = read + 1;
        inside -= 1;
        await lock.release();
      }),
    );
    return { updates: shared, mostInside };
  }

  test('0-none: lose updates', async () => {
    const { updates, mostInside } = await contend(locks['0-none'] as CreateLock);

    expect(updates).toBeLessThan(CONTENDERS);
    expect(mostInside).toBeGreaterThan(1);
  });

  test.each(guarding)('%s: lose no update', async (_stage, createLock) => {
    const { updates, mostInside } = await contend(createLock);

    expect(updates).toBe(CONTENDERS);
    expect(mostInside).toBe(1);
  });
});

describe('the registry', () => {
  test.each(all.map(([stage], index) => [stage, String(index)]).slice(0, 9))(
    '%s: is found by its name and by %s',
    (stage, number) => {
      expect(stage).toMatch(new RegExp(`^${number}-`));
      expect(lockName(number)).toBe(stage);
      expect(lockName(stage)).toBe(stage);
    },
  );

  test.each([
    '',
    ' ',
    '9',
    '-1',
    '08',
    '4.0',
    ' 4',
    '4 ',
    '4-',
    'ttl',
    '4-TTL',
    '4-ttl.ts',
    '٤',
    'unknown',
    '__proto__',
    'constructor',
    'toString',
  ])('lockName: finds nothing for %j', (version) => {
    expect(lockName(version)).toBeUndefined();
  });
});
