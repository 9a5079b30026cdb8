import { describe, expect, onTestFinished, test } from 'vitest';
import { takeOne as pessimistic } from '../../../locks/beyond/mysql-pessimistic.ts';
import { createLock as zookeeper } from '../../../locks/beyond/zookeeper.ts';
import { strategies } from '../../../locks/index.ts';
import type { CreateLock, LockOptions } from '../../../locks/lock.ts';
import { connectStore } from '../../../services/inventory/store.ts';
import { idOf, ownMysql } from '../../locks/beyond/own-mysql.ts';
import { ownZookeeper } from '../../locks/beyond/own-zookeeper.ts';
import { lockOptions, saleOptions } from '../../locks/lock-options.ts';
import { ownRedis } from '../../locks/own-redis.ts';
import { until } from '../../locks/until.ts';

/** A sale must be answered within a second, whatever its server does. */
const ANSWERED_MS = 1_000;

const createLockOf = (name: string) => (strategies[name] as { createLock: CreateLock }).createLock;

async function msOf(act: Promise<unknown>) {
  const startedAt = performance.now();
  await act;
  return performance.now() - startedAt;
}

describe('Redis stands still', () => {
  const { url, connect, key, signal } = ownRedis();

  /** How many channels of this lock somebody listens to. */
  const listening = async () => ((await connect().call('PUBSUB', 'CHANNELS', `${key()}:*`)) as string[]).length;

  test.each([
    ['blocking', 0],
    ['fair', 20],
    ['cohort', 1],
  ])('%s: its waiters are refused in time', async (name, queued) => {
    const { redis, back } = connectStore(url());
    await back();
    const newLock = (client = redis) => createLockOf(name)(lockOptions({ redis: client, key: key() }));
    const holder = newLock(connect());
    await holder.acquire();
    const ends = Array.from({ length: 20 }, () =>
      newLock()
        .acquire()
        .catch(() => {}),
    );
    await until(async () => (await connect().llen(`${key()}:queue`)) === queued);
    await until(async () => (await listening()) > 0);
    signal('SIGSTOP');

    const refusedMs = await msOf(Promise.all(ends));

    signal('SIGCONT');
    // A connection notices after 700 ms, and is asked every 250 ms.
    expect(refusedMs).toBeLessThan(ANSWERED_MS + 300);
    // Nobody listens any more, so nothing is handed to those who have gone.
    await until(async () => (await listening()) === 0);
    // Those of fair give up their places when Redis is back.
    if (name === 'fair') await until(async () => (await connect().exists(`${key()}:queue`)) === 0);
    await holder.release();
    await connect().del(`${key()}:queue`);
    redis.disconnect();
  });
});

describe('MySQL stands still', () => {
  const { database, connect, freeze, resume, key } = ownMysql();

  test.each(['mysql-lock-table', 'mysql-named', 'mysql-pessimistic'])('%s: is refused in time', async (name) => {
    const mysql = connect(await database());
    await idOf(mysql);
    await freeze();
    onTestFinished(resume);
    const options = lockOptions({ redis: undefined as never, mysql, key: key() });

    const ms = await msOf(
      (name === 'mysql-pessimistic'
        ? pessimistic(saleOptions({ mysql }))
        : createLockOf(name)(options).acquire()
      ).catch(() => {}),
    );

    expect(ms).toBeLessThan(ANSWERED_MS);
  });
});

describe('ZooKeeper stands still', () => {
  const SESSION_MS = 600;
  const { connect, key, nodes, freeze, resume } = ownZookeeper();
  const lockOf = (given: Partial<LockOptions>) =>
    zookeeper(lockOptions({ redis: undefined as never, key: key(), onLeaseLost() {}, ...given }));

  test('the holder stops before its session can have ended', async () => {
    onTestFinished(resume);
    const session = connect(SESSION_MS);
    const lock = lockOf({ zookeeper: session });
    await lock.acquire();
    // ZooKeeper has just heard of the session.
    await (await session.enter()).list('/locks');
    freeze();

    expect(await msOf(until(async () => lock.lost?.aborted === true))).toBeLessThan(SESSION_MS);
  });

  test('a sale is refused in time, and one gets in when it goes on, long before the session ends', async () => {
    onTestFinished(resume);
    const session = connect(30_000);
    await session.enter();
    freeze();

    // The first one finds the session open, the second one none.
    for (const _time of [1, 2])
      expect(await msOf(expect(lockOf({ zookeeper: session }).acquire()).rejects.toThrow())).toBeLessThan(ANSWERED_MS);
    resume();

    const lock = lockOf({ zookeeper: session });
    expect(await msOf(lock.acquire())).toBeLessThan(5_000);
    // The node of the first one was made after all, and is gone.
    expect(await nodes(key())).toHaveLength(1);
    await lock.release();
  });
});
