import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/delete-if-equal.ts';
import { readText } from '../../lesson/project-files.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { startHolder } from '../start-holder.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key, url } = ownRedis({ isEmbedded: true });

const linesOf = (file: string) => readText(file).replaceAll("'../", "'./").split('\n').slice(5);

test('delete-if-equal: is stage 6, but for how it deletes', () => {
  const [own, stage6] = [linesOf('locks/beyond/delete-if-equal.ts'), linesOf('locks/6-lua-release.ts')];

  expect(own.filter((line) => !stage6.includes(line))).toEqual([
    "import { deleteIfEqual } from './drivers/delete-if-equal.ts';",
    '    if ((await deleteIfEqual(redis, key, ownerToken)) === 0) throw new LockNotHeldError(key);',
  ]);
  expect(stage6.filter((line) => !own.includes(line))).toEqual([
    "import { readScript } from './drivers/script.ts';",
    "const releaseIfOwner = readScript('release-if-owner');",
    '    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);',
  ]);
});

test('delete-if-equal: looking and deleting are one command', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const lock = createLock(lockOptions({ redis: watch.client, key: key() }));

  await lock.acquire();
  await lock.release();

  expect(watch.sent).toEqual(['set', 'delifeq']);
  expect(await redis.exists(key())).toBe(0);
});

test('delete-if-equal: a release that arrives when the owner has changed deletes nothing', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = createLock(lockOptions({ redis: watch.client, key: key(), ownerToken: 'a' }));
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  const c = createLock(lockOptions({ redis, key: key(), ownerToken: 'c' }));
  await a.acquire();
  const late = watch.hold('delifeq');

  const releasedByA = a.release();
  await late.reached;
  await redis.del(key()); // The lease of A ends.
  await b.acquire(AbortSignal.abort());
  late.letGo();

  await expect(releasedByA).rejects.toMatchObject(notHeld);
  expect(await redis.get(key())).toBe('b');
  await expect(c.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await b.release();
});

test('delete-if-equal: a holder that asks for its own lock again waits for itself', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const patience = new AbortController();
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), ownerToken: 'a' }));
  await lock.acquire();

  const tries = [watch.nextAnswer('set'), watch.nextAnswer('set'), watch.nextAnswer('set')];
  const nested = lock.acquire(patience.signal);
  expect(await Promise.all(tries)).toEqual([null, null, null]);
  patience.abort();

  await expect(nested).rejects.toMatchObject(aborted);
  expect(await redis.get(key())).toBe('a');
  await lock.release();
});

test('delete-if-equal: it compares a string; a hash of hold counts, as stage 7 has it, is refused', async () => {
  const redis = connect();
  const lock = createLock(lockOptions({ redis, key: key(), ownerToken: 'a' }));
  await redis.hset(key(), 'a', 1);

  await expect(lock.release()).rejects.toThrow('WRONGTYPE');

  expect(await redis.hget(key(), 'a')).toBe('1');
  await redis.del(key());
});

describe('delete-if-equal: what every lock promises', () => {
  test('it is acquired, released, and acquired again by the next holder', async () => {
    const redis = connect();
    const a = createLock(lockOptions({ redis, key: key() }));
    const b = createLock(lockOptions({ redis: connect(), key: key() }));

    await a.acquire();
    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    await a.release();
    await b.acquire(AbortSignal.abort());
    await b.release();

    expect(await redis.exists(key())).toBe(0);
  });

  test('it keeps the holders of another process out', async () => {
    const b = createLock(lockOptions({ redis: connect(), key: key() }));
    const a = await startHolder({ stage: 'delete-if-equal', url: url(), key: key() });

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    a.resume();
    await a.untilSaid('released');
    await b.acquire(AbortSignal.abort());
    await b.release();
  });

  test('its lease ends', async () => {
    const redis = connect();
    const a = createLock(lockOptions({ redis, key: key(), leaseMs: 100 }));
    const b = createLock(lockOptions({ redis, key: key() }));
    await a.acquire();

    await b.acquire(AbortSignal.timeout(5_000));

    await expect(a.release()).rejects.toMatchObject(notHeld);
    await b.release();
  });

  test('a release rejects when the lock was never acquired, and the second time', async () => {
    const lock = createLock(lockOptions({ redis: connect(), key: key() }));

    await expect(lock.release()).rejects.toMatchObject(notHeld);
    await lock.acquire();
    await lock.release();
    await expect(lock.release()).rejects.toMatchObject(notHeld);
  });

  test('a release passes on that Redis did not answer, and can be tried again', async () => {
    const redis = connect();
    const watch = watchClient(redis);
    const lock = createLock(lockOptions({ redis: watch.client, key: key() }));
    const noAnswer = new Error('Connection is closed.');
    await lock.acquire();
    watch.fail('delifeq', noAnswer);

    await expect(lock.release()).rejects.toBe(noAnswer);
    await lock.release();

    expect(await redis.exists(key())).toBe(0);
  });

  test('an abort ends the wait at once, and leaves neither a listener nor a command', async () => {
    const redis = connect();
    const watch = watchClient(redis);
    const patience = new AbortController();
    const a = createLock(lockOptions({ redis, key: key() }));
    const b = createLock(lockOptions({ redis: watch.client, key: key(), retryDelayMs: 60_000 }));
    await a.acquire();
    const tried = watch.nextAnswer('set');
    const entered = b.acquire(patience.signal);
    await tried;

    patience.abort();
    await expect(entered).rejects.toMatchObject(aborted);

    expect(getEventListeners(patience.signal, 'abort')).toEqual([]);
    await a.release();
    await sleep(20);
    expect(watch.sent).toEqual(['set']);
  });
});

/** What the chapter says of a server that compares in SET alone. */
describe('delete-if-equal: SET with IFEQ', () => {
  const set = (...args: string[]) => connect().call('SET', key(), ...args);
  const exists = () => connect().exists(key());

  test('renews a lease that is the holder’s own, and no other', async () => {
    const redis = connect();
    await redis.set(key(), 'a', 'PX', 10_000);

    expect(await set('b', 'IFEQ', 'b', 'PX', '60000')).toBeNull();
    expect(await redis.pttl(key())).toBeLessThanOrEqual(10_000);
    expect(await set('a', 'IFEQ', 'a', 'PX', '60000')).toBe('OK');
    expect(await redis.pttl(key())).toBeGreaterThan(10_000);
    expect(await redis.get(key())).toBe('a');
    await redis.del(key());
    expect(await set('a', 'IFEQ', 'a', 'PX', '60000')).toBeNull();
  });

  test('with an end that has passed it frees the holder’s own key at once, and no other', async () => {
    await connect().set(key(), 'a', 'PX', 10_000);

    expect([await set('b', 'IFEQ', 'b', 'PXAT', '1'), await exists()]).toEqual([null, 1]);
    expect([await set('a', 'IFEQ', 'a', 'PXAT', '1'), await exists()]).toEqual(['OK', 0]);
    expect(await set('a', 'IFEQ', 'a', 'PXAT', '1')).toBeNull();
  });

  test('with an end in a moment the key is there for so long, and a second release is answered like the first', async () => {
    const redis = connect();
    await redis.set(key(), 'a', 'PX', 10_000);

    // In one transaction no time passes.
    const answers = await redis
      .multi()
      .call('SET', key(), 'a', 'IFEQ', 'a', 'PX', 1)
      .exists(key())
      .call('SET', key(), 'a', 'IFEQ', 'a', 'PX', 1)
      .set(key(), 'b', 'PX', 10_000, 'NX')
      .exec();

    expect(answers?.map(([, answer]) => answer)).toEqual(['OK', 1, 'OK', null]);
    await redis.del(key());
  });
});
