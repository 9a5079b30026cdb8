import { once } from 'node:events';
import type { Connection, Pool } from 'mysql2/promise';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { takeOne as conditional } from '../../../locks/beyond/mysql-conditional.ts';
import { createLock as lockTable } from '../../../locks/beyond/mysql-lock-table.ts';
import { createLock as named } from '../../../locks/beyond/mysql-named.ts';
import { takeOne as optimistic } from '../../../locks/beyond/mysql-optimistic.ts';
import { takeOne as pessimistic } from '../../../locks/beyond/mysql-pessimistic.ts';
import { isMysqlSilent } from '../../../locks/drivers/mysql-errors.ts';
import { withSession } from '../../../locks/drivers/mysql-session.ts';
import type { CreateLock, LockOptions, SaleOptions, TakeOne } from '../../../locks/lock.ts';
import { isStoreUnavailable } from '../../../services/inventory/servers/away-server.ts';
import { stockInMysql } from '../../../services/inventory/servers/mysql.ts';
import type { Stock } from '../../../services/inventory/servers/store.ts';
import { aborted, lockOptions, notHeld, saleOptions } from '../lock-options.ts';
import { until } from '../until.ts';
import { idOf, ownMysql } from './own-mysql.ts';

const { ask, database, connect, waiting, freeze, resume, key } = ownMysql();
const locks: [string, CreateLock][] = [
  ['mysql-lock-table', lockTable],
  ['mysql-named', named],
];
const sales: [string, TakeOne][] = [
  ['mysql-pessimistic', pessimistic],
  ['mysql-optimistic', optimistic],
  ['mysql-conditional', conditional],
];
const sku = '001';
const oneTry = AbortSignal.abort();

let url: string;
let pool: Pool;
let stock: Stock;

beforeAll(async () => {
  url = await database();
  pool = connect(url);
  stock = stockInMysql(connect(url));
});
beforeEach(() => stock.writeStock(sku, 5));

const optionsOf = (given: Partial<LockOptions> = {}) =>
  lockOptions({ redis: undefined as never, mysql: pool, key: key(), ...given });

/** A sale, and the steps that it tells. */
function sell(takeOne: TakeOne, given: Partial<SaleOptions> = {}) {
  const emitted: [step: string, stock?: number][] = [];
  const sold = takeOne(saleOptions({ mysql: pool, sku, emit: (...step) => void emitted.push(step), ...given }));
  sold.catch(() => {});
  return { sold, emitted };
}

describe.each(locks)('%s', (_, createLock) => {
  const newLock = (given: Partial<LockOptions> = {}) => createLock(optionsOf(given));

  test('is acquired beside another key, keeps out at one try, and is released by its holder alone', async () => {
    const one = connect(url, 1);
    const [other, a, b] = [newLock({ key: `${key()} (other)` }), newLock(), newLock({ mysql: one })];
    await other.acquire();
    await a.acquire();

    await expect(b.release()).rejects.toMatchObject(notHeld);
    await expect(b.acquire(oneTry)).rejects.toMatchObject(aborted);

    await a.release();
    await expect(a.release()).rejects.toMatchObject(notHeld);
    // Its one connection is good for the next try.
    await b.acquire(oneTry);
    await b.release();
    await other.release();
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
    await holder.release();
    await next.acquire(oneTry);
    await next.release();
  });

  test.each(['by the same lock object', 'by another lock object'])(
    'its request acquires it again %s, before those who wait, and it is free after the last release',
    async (which) => {
      const one = connect(url, 1);
      const lockOfOurs = () => newLock({ ownerToken: 'ours', mysql: one });
      const outer = lockOfOurs();
      const inner = which === 'by another lock object' ? lockOfOurs() : outer;
      const other = newLock();
      await outer.acquire();
      let isIn = false;
      const entered = other.acquire().then(() => (isIn = true));

      await inner.acquire();
      await inner.release();
      await expect(newLock().acquire(oneTry)).rejects.toMatchObject(aborted);
      expect(isIn).toBe(false);
      await outer.release();
      await entered;
      await other.release();
    },
  );

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
    await next.release();
    expect(await idOf(one)).not.toBe(id);
  });
});

describe('mysql-lock-table: a waiter is aborted, and the connection that is to end its statement', () => {
  /** A pool whose connection looks different from our side. */
  const disguised = (pool: Pool, disguise: (connection: Connection) => void) =>
    ({
      async getConnection() {
        const borrowed = await pool.getConnection();
        disguise(borrowed.connection);
        return borrowed;
      },
    }) as Pool;

  test('knows the waiter by the number of a proxy, which is that of another: it ends this statement alone', async () => {
    const [bystander, patience] = [connect(url, 1), new AbortController()];
    const number = await idOf(bystander);
    const mysql = disguised(connect(url, 1), (its) => Object.assign(its, { threadId: number }));
    const [holder, waiter, other] = [optionsOf(), optionsOf({ mysql }), optionsOf({ mysql: bystander })].map(lockTable);
    await holder?.acquire();
    const entered = other?.acquire();
    const waited = waiter?.acquire(patience.signal);
    await until(async () => (await waiting()) === 2);

    patience.abort();
    await expect(waited).rejects.toMatchObject(aborted);

    await until(async () => (await waiting()) === 1);
    await holder?.release();
    await entered;
    await other?.release();
  });

  test('leads to a server that does not know the waiter: nothing is ended, and the waiter is answered', async () => {
    // Who may not see the connections of others sees what another server of a cluster would show.
    await ask('CREATE USER elsewhere');
    const patience = new AbortController();
    const mysql = disguised(connect(url, 1), ({ config }) => Object.assign(config, { user: 'elsewhere' }));
    const [holder, waiter, next] = [optionsOf(), optionsOf({ mysql }), optionsOf()].map(lockTable);
    await holder?.acquire();
    const waited = waiter?.acquire(patience.signal);
    await until(async () => (await waiting()) === 1);

    patience.abort();
    await expect(waited).rejects.toMatchObject(aborted);

    expect(await waiting()).toBe(1);
    await holder?.release();
    await next?.acquire();
    await next?.release();
  });
});

test('mysql-lock-table: a wait longer than the server allows begins again, and ends with the lock', async () => {
  await ask('SET GLOBAL innodb_lock_wait_timeout = 1');
  const one = connect(url, 1);
  let tries = 0;
  async function getConnection() {
    tries += 1;
    return one.getConnection();
  }
  const [holder, waiter] = [lockTable(optionsOf()), lockTable(optionsOf({ mysql: { getConnection } as Pool }))];
  await holder.acquire();
  const entered = waiter.acquire();
  await until(async () => tries === 2);
  await ask('SET GLOBAL innodb_lock_wait_timeout = 50');

  await holder.release();

  await entered;
  await waiter.release();
});

test('a pool: when MySQL stands still, each of thousands that wait for a connection hears so', async () => {
  const few = connect(url, 2);
  const borrow = () => withSession(few, new AbortController().signal, (session) => session.ask('SELECT 1'));
  await Promise.all([borrow(), borrow()]);
  await freeze();
  onTestFinished(() => void resume());

  const ends = await Promise.allSettled(Array.from({ length: 5_000 }, borrow));

  expect(ends.filter((end) => end.status === 'fulfilled' || !isMysqlSilent(end.reason))).toEqual([]);
});

test('mysql-named: a name is a lock of its database only, however long it is', async () => {
  const other = connect(await database());
  const key = 'a'.repeat(200);
  const [here, there] = [named(optionsOf({ key })), named(optionsOf({ key, mysql: other }))];

  await here.acquire();
  await there.acquire(oneTry);

  await there.release();
  await here.release();
});

describe.each(sales)('%s', (_, takeOne) => {
  test('a sale that waits for the row and is aborted ends, sells nothing, and leaves no statement', async () => {
    const holder = await pool.getConnection();
    // What the system does to the connections of a process that is killed: what it has not committed is undone.
    onTestFinished(() => holder.destroy());
    await holder.query('START TRANSACTION');
    await holder.query('UPDATE tb_stock SET stock = 0 WHERE sku = ?', [sku]);
    const mysql = connect(url, 1);
    const patience = new AbortController();
    const { sold } = sell(takeOne, { mysql, signal: patience.signal });
    await until(async () => (await waiting()) === 1);

    patience.abort(new Error('enough'));
    await expect(sold).rejects.toMatchObject({ ...aborted, cause: patience.signal.reason });

    await until(async () => (await waiting()) === 0);
    holder.destroy();
    expect(await sell(takeOne, { mysql }).sold).toBe(5);
  });

  test('a deadlock is refused by the server, and the sale begins again', async () => {
    await pool.query('CREATE TABLE IF NOT EXISTS side (id INT PRIMARY KEY, n INT)');
    await pool.query('REPLACE INTO side VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)');
    // Every sale now locks a second row after that of the stock.
    await pool.query(
      'CREATE TRIGGER also BEFORE UPDATE ON tb_stock FOR EACH ROW UPDATE side SET n = n + 1 WHERE id = 1',
    );
    onTestFinished(async () => void (await pool.query('DROP TRIGGER also')));
    const other = await pool.getConnection();
    await other.query('START TRANSACTION');
    // It has written more, so the server gives the sale up and not this one.
    await other.query('UPDATE side SET n = 100');
    const { sold, emitted } = sell(takeOne);
    // A sale that reads for its write may be asking for the row of the stock, and not have it.
    await until(async () => (await waiting('UPDATE%')) === 1);
    await other.query('SELECT stock FROM tb_stock WHERE sku = ? FOR UPDATE', [sku]);
    await other.query('COMMIT');
    other.release();

    expect(await sold).toBe(5);
    expect(emitted.filter(([step]) => step === 'conflict')).toHaveLength(1);
    expect(await stock.readStock(sku)).toBe(4);
  });

  test('a connection that breaks during the sale: nothing is written, and the row is free', async () => {
    const mysql = connect(url, 1);
    const id = await idOf(mysql);
    const business = async () => void (await ask('KILL ?', [id]));

    const error = await sell(takeOne, { mysql, business }).sold.catch((reason) => reason);

    expect(isStoreUnavailable(error)).toBe(true);
    expect(await sell(takeOne).sold).toBe(5);
  });
});

test('mysql-optimistic: a write of another version is refused, and the sale reads anew', async () => {
  let others = 1;
  const business = async () => {
    if (others > 0) await stock.writeStock(sku, 9);
    others -= 1;
  };
  const { sold, emitted } = sell(optimistic, { business });

  expect(await sold).toBe(9);

  expect(emitted).toEqual([['began'], ['read', 5], ['conflict'], ['read', 9], ['wrote', 8]]);
});
