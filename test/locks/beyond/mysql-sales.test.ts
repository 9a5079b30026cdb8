import type { Pool, RowDataPacket } from 'mysql2/promise';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { takeOne as conditional } from '../../../locks/beyond/mysql-conditional.ts';
import { takeOne as optimistic } from '../../../locks/beyond/mysql-optimistic.ts';
import { takeOne as pessimistic } from '../../../locks/beyond/mysql-pessimistic.ts';
import type { SaleOptions, TakeOne } from '../../../locks/lock.ts';
import { isStoreUnavailable } from '../../../services/inventory/away-server.ts';
import { stockInMysql } from '../../../services/inventory/mysql.ts';
import type { Stock } from '../../../services/inventory/store.ts';
import { aborted, saleOptions } from '../lock-options.ts';
import { until } from '../until.ts';
import { idOf, ownMysql } from './own-mysql.ts';

const strategies: [string, TakeOne][] = [
  ['mysql-pessimistic', pessimistic],
  ['mysql-optimistic', optimistic],
  ['mysql-conditional', conditional],
];
const sku = '001';

const { ask, database, connect, waiting, freeze, resume } = ownMysql();
let url: string;
let pool: Pool;
let stock: Stock;

beforeAll(async () => {
  url = await database();
  pool = connect(url);
  stock = stockInMysql(connect(url));
});

beforeEach(() => stock.deleteStock(sku));

type Emitted = [step: string, stock?: number];

/** Options for one sale, and the steps that it tells. */
function sale(given: Partial<SaleOptions> = {}) {
  const emitted: Emitted[] = [];
  const options = saleOptions({ mysql: pool, sku, emit: (...step) => void emitted.push(step), ...given });
  return { options, emitted };
}

/** A transaction of the test's own that has locked the row of the stock. */
async function lockStock() {
  const connection = await pool.getConnection();
  // A test that fails keeps the row from nobody.
  onTestFinished(() => connection.destroy());
  await connection.query('START TRANSACTION');
  await connection.query('SELECT stock FROM tb_stock WHERE sku = ? FOR UPDATE', [sku]);
  return {
    connection,
    async free() {
      await connection.query('ROLLBACK');
      connection.release();
    },
  };
}

describe.each(strategies)('%s', (strategy, takeOne) => {
  test('sells until nothing is left, and knows no other sku', async () => {
    await stock.writeStock(sku, 2);
    const one = connect(url, 1);

    const answers = [];
    for (let n = 1; n <= 3; n += 1) answers.push(await takeOne(sale({ mysql: one }).options));

    expect(answers).toEqual([2, 1, 0]);
    expect(await stock.readStock(sku)).toBe(0);
    expect(await takeOne(sale({ mysql: one, sku: 'unknown' }).options)).toBeUndefined();
  });

  test('20 buyers over two pools of 12 units: each unit is sold once', async () => {
    await stock.writeStock(sku, 12);
    const pools = [connect(url), connect(url)] as const;

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => takeOne(sale({ mysql: pools[index % 2] ?? pools[0] }).options)),
    );

    const sold = answers.filter((before) => before !== 0).toSorted((a, b) => Number(a) - Number(b));
    expect(sold).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
    expect(await stock.readStock(sku)).toBe(0);
  });

  test('a sale that is aborted before it begins rejects', async () => {
    await stock.writeStock(sku, 5);

    await expect(takeOne(sale({ signal: AbortSignal.abort() }).options)).rejects.toMatchObject(aborted);

    expect(await stock.readStock(sku)).toBe(5);
  });

  test('a sale that waits for the row and is aborted ends, sells nothing, and leaves no statement', async () => {
    await stock.writeStock(sku, 5);
    const other = await lockStock();
    const one = connect(url, 1);
    const patience = new AbortController();
    const sold = takeOne(sale({ mysql: one, signal: patience.signal }).options);
    sold.catch(() => {});
    await until(async () => (await waiting()) === 1);

    patience.abort(new Error('enough'));
    await expect(sold).rejects.toMatchObject({ ...aborted, cause: patience.signal.reason });

    await until(async () => (await waiting()) === 0);
    await other.free();
    expect(await stock.readStock(sku)).toBe(5);
    expect(await takeOne(sale({ mysql: one }).options)).toBe(5);
  });

  test('a deadlock is refused by the server, and the sale begins again', async () => {
    await stock.writeStock(sku, 5);
    await pool.query('CREATE TABLE IF NOT EXISTS side (id INT PRIMARY KEY, n INT)');
    await pool.query('REPLACE INTO side VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)');
    // Every sale now locks a second row after that of the stock.
    await pool.query(
      'CREATE TRIGGER also BEFORE UPDATE ON tb_stock FOR EACH ROW UPDATE side SET n = n + 1 WHERE id = 1',
    );
    const other = await pool.getConnection();
    try {
      await other.query('START TRANSACTION');
      // It has written more, so the server gives the sale up and not this one.
      await other.query('UPDATE side SET n = 100');
      const { options, emitted } = sale();
      const sold = takeOne(options);
      await until(async () => (await waiting()) === 1);
      await other.query('SELECT stock FROM tb_stock WHERE sku = ? FOR UPDATE', [sku]);
      await other.query('COMMIT');

      expect(await sold).toBe(5);
      expect(emitted.filter(([step]) => step === 'conflict')).toHaveLength(1);
      expect(await stock.readStock(sku)).toBe(4);
    } finally {
      other.destroy();
      await pool.query('DROP TRIGGER also');
    }
  });

  test('a server that refuses every write: the sale ends after a number of tries, and has taken nothing', async () => {
    await stock.writeStock(sku, 5);
    await pool.query(
      "CREATE TRIGGER refuse BEFORE UPDATE ON tb_stock FOR EACH ROW SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213",
    );
    try {
      await expect(takeOne(sale().options)).rejects.toMatchObject({ code: 'TOO_MANY_CONFLICTS' });
    } finally {
      await pool.query('DROP TRIGGER refuse');
    }
    expect(await stock.readStock(sku)).toBe(5);
  });

  test('a connection that breaks during the sale: nothing is written, and the row is free', async () => {
    await stock.writeStock(sku, 5);
    const one = connect(url, 1);
    const id = await idOf(one);
    const business = async () => void (await ask('KILL ?', [id]));

    const error = await takeOne(sale({ mysql: one, business }).options).catch((reason) => reason);

    expect(isStoreUnavailable(error)).toBe(true);
    expect(await takeOne(sale().options)).toBe(5);
  });

  test('a server that stands still: the sale is refused', async () => {
    await stock.writeStock(sku, 5);
    await idOf(pool);
    await freeze();

    const error = await takeOne(sale().options).catch((reason) => reason);
    resume();

    expect(isStoreUnavailable(error), strategy).toBe(true);
  });
});

test('mysql-pessimistic: is alone from its read on, and leaves with its commit', async () => {
  await stock.writeStock(sku, 5);
  let keepSelling = () => {};
  const first = sale({ business: () => new Promise((resolve) => (keepSelling = resolve)) });
  const second = sale();

  const firstSold = pessimistic(first.options);
  await until(async () => first.emitted.length === 2);
  const secondSold = pessimistic(second.options);
  await until(async () => (await waiting()) === 1);
  expect(second.emitted).toEqual([]);
  keepSelling();

  expect([await firstSold, await secondSold]).toEqual([5, 4]);
  expect(first.emitted).toEqual([['entered'], ['read', 5], ['left'], ['writing'], ['wrote', 4]]);
});

test('mysql-optimistic: a write of another version is refused, and the sale reads anew', async () => {
  await stock.writeStock(sku, 5);
  let others = 1;
  const business = async () => {
    if (others > 0) await stock.writeStock(sku, 9);
    others -= 1;
  };
  const { options, emitted } = sale({ business });

  expect(await optimistic(options)).toBe(9);

  expect(emitted).toEqual([
    ...[['began'], ['read', 5], ['writing'], ['conflict']],
    ...[['read', 9], ['writing'], ['wrote', 8]],
  ]);
});

test('mysql-conditional: tells the stock that its one statement has found', async () => {
  await stock.writeStock(sku, 5);
  const business = () => stock.writeStock(sku, 3);
  const { options, emitted } = sale({ business });

  expect(await conditional(options)).toBe(3);

  expect(emitted).toEqual([['began'], ['writing'], ['read', 3], ['wrote', 2]]);
});

test('a killed process: what it has not committed is undone, and its row is free', async () => {
  await stock.writeStock(sku, 5);
  const other = await lockStock();
  await other.connection.query('UPDATE tb_stock SET stock = 0 WHERE sku = ?', [sku]);
  const sold = pessimistic(sale().options);
  await until(async () => (await waiting()) === 1);

  // What the system does to the connections of a process that is killed.
  other.connection.destroy();

  expect(await sold).toBe(5);
  const [rows] = await pool.query<RowDataPacket[]>('SELECT version FROM tb_stock WHERE sku = ?', [sku]);
  expect(rows[0]?.version).toBe(1);
});
