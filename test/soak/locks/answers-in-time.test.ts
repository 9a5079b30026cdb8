// How soon a lock refuses whose server stands still: a sale must be answered within a second. That it does refuse: npm test; Redis: services/outage.test.ts.

import { describe, expect, onTestFinished, test } from 'vitest';
import { takeOne as pessimistic } from '../../../locks/beyond/mysql-pessimistic.ts';
import { createLock as zookeeper } from '../../../locks/beyond/zookeeper.ts';
import { strategies } from '../../../locks/index.ts';
import type { CreateLock, LockOptions } from '../../../locks/lock.ts';
import { idOf, ownMysql } from '../../locks/beyond/own-mysql.ts';
import { ownZookeeper } from '../../locks/beyond/own-zookeeper.ts';
import { lockOptions, saleOptions } from '../../locks/lock-options.ts';
import { until } from '../../locks/until.ts';

const ANSWERED_MS = 1_000;
const createLockOf = (name: string) => (strategies[name] as { createLock: CreateLock }).createLock;

/** How long it takes, whatever comes of it. */
async function msOf(act: Promise<unknown>) {
  const startedAt = performance.now();
  await act.catch(() => {});
  return performance.now() - startedAt;
}

describe('MySQL stands still', () => {
  const { database, connect, freeze, resume, key } = ownMysql();

  test.each(['mysql-lock-table', 'mysql-named', 'mysql-pessimistic'])('%s: is refused in time', async (name) => {
    const mysql = connect(await database());
    await idOf(mysql);
    await freeze();
    onTestFinished(resume);
    const asked =
      name === 'mysql-pessimistic'
        ? pessimistic(saleOptions({ mysql }))
        : createLockOf(name)(lockOptions({ redis: undefined as never, mysql, key: key() })).acquire();

    expect(await msOf(asked)).toBeLessThan(ANSWERED_MS);
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
    for (const _time of [1, 2]) expect(await msOf(lockOf({ zookeeper: session }).acquire())).toBeLessThan(ANSWERED_MS);
    resume();

    const lock = lockOf({ zookeeper: session });
    expect(await msOf(lock.acquire())).toBeLessThan(5_000);
    // The node of the first one was made after all, and is gone.
    expect(await nodes(key())).toHaveLength(1);
    await lock.release();
  });
});
