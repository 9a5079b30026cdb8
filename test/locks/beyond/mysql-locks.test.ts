import { once } from 'node:events';
import type { Pool } from 'mysql2/promise';
import { beforeAll, describe, expect, test } from 'vitest';
import { createLock as lockTable } from '../../../locks/beyond/mysql-lock-table.ts';
import { createLock as named } from '../../../locks/beyond/mysql-named.ts';
import type { CreateLock, LockOptions } from '../../../locks/lock.ts';
import { isStoreUnavailable } from '../../../services/inventory/away-server.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { startHolder } from '../start-holder.ts';
import { until } from '../until.ts';
import { idOf, ownMysql } from './own-mysql.ts';
import { watchPool } from './watched-pool.ts';

const CONTENDERS = 20;

const strategies: [string, CreateLock][] = [
  ['mysql-lock-table', lockTable],
  ['mysql-named', named],
];

const { ask, database, connect, waiting, key, ...server } = ownMysql();
let url: string;
let pool: Pool;

beforeAll(async () => {
  url = await database();
  pool = connect(url);
});

const optionsOf = (given: Partial<LockOptions> = {}) =>
  lockOptions({ redis: undefined as never, mysql: pool, key: key(), ...given });

describe.each(strategies)('%s', (strategy, createLock) => {
  const newLock = (given: Partial<LockOptions> = {}) => createLock(optionsOf(given));

  test('is acquired while another key is held, released, and acquired by the next holder with one try', async () => {
    const [other, a, b] = [newLock({ key: `${key()} (other)` }), newLock(), newLock()];
    await other.acquire();

    await a.acquire();
    await a.release();
    await b.acquire(AbortSignal.abort());

    await b.release();
    await other.release();
  });

  test(`${CONTENDERS} contenders over two pools lose no update, and are never two inside`, async () => {
    const pools = [connect(url), connect(url)] as const;
    let [shared, inside, mostInside] = [0, 0, 0];

    await Promise.all(
      Array.from({ length: CONTENDERS }, async (_, index) => {
        const lock = newLock({ mysql: pools[index % 2] ?? pools[0] });
        await lock.acquire();
        inside += 1;
        mostInside = Math.max(mostInside, inside);
        const read = shared;
        await pool.query('SELECT 1');
        shared = read + 1;
        inside -= 1;
        await lock.release();
      }),
    );

    expect([shared, mostInside]).toEqual([CONTENDERS, 1]);
  });

  test('a held lock refuses one try, and the connection is good for the next', async () => {
    const one = connect(url, 1);
    const [a, b] = [newLock(), newLock({ mysql: one })];
    await a.acquire();

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    await a.release();
    await b.acquire(AbortSignal.abort());
    await b.release();
  });

  test('a waiter that is aborted ends at once, and so does its statement at the server', async () => {
    const [holder, waiter, next] = [newLock(), newLock(), newLock()];
    const patience = new AbortController();
    await holder.acquire();
    const waited = waiter.acquire(patience.signal);
    waited.catch(() => {});
    await until(async () => (await waiting()) === 1);

    patience.abort(new Error('enough'));
    await expect(waited).rejects.toMatchObject({ ...aborted, cause: patience.signal.reason });

    await until(async () => (await waiting()) === 0);
    await expect(waiter.release()).rejects.toMatchObject(notHeld);
    await holder.release();
    await next.acquire(AbortSignal.abort());
    await next.release();
  });

  test('a waiter for a connection that is aborted ends at once, and the connection goes to the next', async () => {
    const one = connect(url, 1);
    const [holder, waiter, next] = [newLock({ mysql: one }), newLock({ mysql: one }), newLock({ mysql: one })];
    await holder.acquire();
    const patience = new AbortController();
    const waited = waiter.acquire(patience.signal);
    const nextIn = next.acquire();
    patience.abort();

    await expect(waited).rejects.toMatchObject(aborted);
    await holder.release();
    await nextIn;
    await next.release();
  });

  test('more waiters than connections: no more than the pool has are open, and all get in', async () => {
    const three = connect(url, 3);
    const before = (await ask('SELECT id FROM information_schema.processlist')).length;
    const holder = newLock();
    await holder.acquire();
    const waiters = Array.from({ length: 12 }, () => newLock({ mysql: three }));
    const entered = waiters.map(async (lock) => {
      await lock.acquire();
      await lock.release();
    });
    await until(async () => (await waiting()) === 3);

    const open = (await ask('SELECT id FROM information_schema.processlist')).length;
    await holder.release();
    await Promise.all(entered);

    expect(open - before).toBeLessThanOrEqual(4);
  });

  test('is not released by a lock that does not hold it', async () => {
    const [holder, other] = [newLock(), newLock()];
    await holder.acquire();

    await expect(other.release()).rejects.toMatchObject(notHeld);
    await expect(other.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    await holder.release();
    await expect(holder.release()).rejects.toMatchObject(notHeld);
  });

  test('its holder acquires it again without waiting, and it is free after the last release', async () => {
    const one = connect(url, 1);
    const [holder, other] = [newLock({ mysql: one }), newLock()];
    await holder.acquire();
    await holder.acquire(AbortSignal.abort());

    await holder.release();
    await expect(other.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    await holder.release();

    await other.acquire(AbortSignal.abort());
    await other.release();
  });

  test('its request acquires it again by another lock object, before those who wait, and it is free after the last release', async () => {
    const ownerToken = 'one request';
    const [outer, inner, other] = [newLock({ ownerToken }), newLock({ ownerToken }), newLock()];
    await outer.acquire();
    let isIn = false;
    const entered = other.acquire().then(() => (isIn = true));

    await inner.acquire();
    await inner.release();
    await expect(inner.release()).rejects.toMatchObject(notHeld);
    expect(isIn).toBe(false);
    await outer.release();
    await entered;
    await other.release();
  });

  test('a connection that breaks: the holder learns it, its release rejects, and the next gets in', async () => {
    const one = connect(url, 1);
    const id = await idOf(one);
    let losses = 0;
    const holder = newLock({ mysql: one, onLeaseLost: () => (losses += 1) });
    const next = newLock();
    await holder.acquire();
    const nextIn = next.acquire();
    await until(async () => (await waiting()) === 1);

    const lost = once(holder.lost as AbortSignal, 'abort');
    await ask('KILL ?', [id]);
    await lost;
    await nextIn;

    expect(losses).toBe(1);
    expect(holder.lost?.reason).toMatchObject(notHeld);
    await expect(holder.release()).rejects.toMatchObject(notHeld);
    await expect(next.release()).resolves.toBeUndefined();
    expect(await idOf(one)).not.toBe(id);
  });

  test('a holder that crashes: its lock is free, though nobody gave it up', async () => {
    const holder = await startHolder({ stage: strategy, url, key: key() });
    const next = newLock();
    await expect(newLock().acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    const nextIn = next.acquire();
    await until(async () => (await waiting()) === 1);

    await holder.kill();

    await nextIn;
    await next.release();
  });
});

test('mysql-lock-table: a wait longer than the server allows begins again, and ends with the lock', async () => {
  await ask('SET GLOBAL innodb_lock_wait_timeout = 1');
  const impatient = watchPool(connect(url, 1));
  const [holder, waiter] = [lockTable(optionsOf()), lockTable(optionsOf({ mysql: impatient.pool }))];
  await holder.acquire();
  const waits = () => impatient.sent.filter((sql) => sql.endsWith('FOR UPDATE')).length;
  const entered = waiter.acquire();
  await until(async () => waits() === 2);
  await ask('SET GLOBAL innodb_lock_wait_timeout = 50');

  await holder.release();

  await entered;
  await waiter.release();
});

test('mysql-lock-table: one try does not wait for the row that another has made and locked meanwhile', async () => {
  const watch = watchPool(connect(url, 1));
  const [holder, single] = [lockTable(optionsOf()), lockTable(optionsOf({ mysql: watch.pool }))];
  const making = watch.hold('INSERT IGNORE');
  const reason = new Error('one try');
  const tried = single.acquire(AbortSignal.abort(reason));
  await making.reached;
  await holder.acquire();

  making.letGo();

  await expect(tried).rejects.toMatchObject({ ...aborted, cause: reason });
  await holder.release();
});

test('mysql-named: a name is a lock of its database only, however long it is', async () => {
  const other = connect(await database());
  const key = 'a'.repeat(200);
  const [here, there] = [named(optionsOf({ key })), named(optionsOf({ key, mysql: other }))];

  await here.acquire();
  await there.acquire(AbortSignal.abort());

  await there.release();
  await here.release();
});

test('schema: two nodes that start at the same time both find the tables', async () => {
  const fresh = await database();
  const nodes = Array.from({ length: 4 }, () => lockTable(optionsOf({ mysql: connect(fresh) })));

  await Promise.all(nodes.map((lock) => lock.acquire().then(() => lock.release())));
});

describe('a server that is away', () => {
  test.each(strategies)('%s: it stands still: an acquire is refused', async (_strategy, createLock) => {
    // There is a connection to be taken from the pool.
    await idOf(pool);
    await server.freeze();

    const refusal = await createLock(optionsOf())
      .acquire()
      .catch((error) => error);
    server.resume();

    expect(isStoreUnavailable(refusal)).toBe(true);
  });

  test.each(strategies)(
    '%s: it dies: the holder learns it, and a new lock is had when it is back',
    async (_strategy, createLock) => {
      const lock = createLock(optionsOf({ onLeaseLost() {} }));
      await lock.acquire();
      const lost = once(lock.lost as AbortSignal, 'abort');
      await server.kill();
      await lost;
      await expect(lock.release()).rejects.toMatchObject(notHeld);
      const refusal = await createLock(optionsOf())
        .acquire()
        .catch((error) => error);
      expect(isStoreUnavailable(refusal)).toBe(true);

      await server.start();

      const next = createLock(optionsOf());
      await next.acquire();
      await next.release();
    },
  );
});
