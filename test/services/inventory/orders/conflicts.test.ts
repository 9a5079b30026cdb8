import type { Pool, RowDataPacket } from 'mysql2/promise';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectMysql, readSchema } from '../../../../services/inventory/mysql.ts';
import { connectOrders, createOrderStore, type OrderStore } from '../../../../services/inventory/orders/order-store.ts';
import { inTransaction } from '../../../../services/inventory/orders/transaction.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { expectProblem, type TestNode, until } from '../node-under-test.ts';
import { buy, openShop, post, type Shop, sellHeld, supply } from './own-shop.ts';

const settings = { UNIT_PRICE: 1_000, ORDER_TTL_MS: 60_000 };

let shop: Shop;
let node: TestNode;

beforeAll(async () => {
  shop = await openShop();
  // Both start at once on a database without tables.
  [node] = await Promise.all([shop.openNode(), shop.openNode().then((other) => cleanUpLater(other.part.stop))]);
  await supply(node, '001', 1_000);
  // A transaction that has changed many rows is the one that MySQL lets win a deadlock.
  await shop.query('CREATE TABLE heavy (n INT PRIMARY KEY)');
});

/** A transaction of the test's own, which wins every deadlock, unless it is light. */
async function begin({ isLight = false } = {}) {
  const connection = await shop.connect();
  await connection.query('START TRANSACTION');
  if (!isLight) {
    await connection.query(`INSERT INTO heavy VALUES ${Array.from({ length: 200 }, (_, n) => `(${n})`).join()}`);
  }
  return connection;
}

/** How many deadlocks the server has had. */
async function deadlocks() {
  const [row] = await shop.query("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'");
  return Number(row?.count);
}

test('both nodes start at once: the tables are there, and both sell', async () => {
  const tables = (await shop.query('SHOW TABLES')).flatMap((row) => Object.values(row));

  expect(tables).toEqual(expect.arrayContaining(['tb_order', 'tb_intent', 'tb_payment', 'tb_supply', 'tb_stock']));
  expect(await buy(node, '001')).toMatchObject({ status: 'UNPAID' });
});

test('8 nodes make the tables of a new database at the same moment: each can use them', async () => {
  const url = await shop.database('at_once');
  const pools = Array.from({ length: 8 }, () => connectOrders(url, 1));
  onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end()))));
  const stores = pools.map((pool) => createOrderStore(pool, settings));

  const pages = await Promise.all(stores.map((store) => store.list({ limit: 1 })));

  expect(pages).toEqual(pages.map(() => ({ orders: [], next: null })));
});

test('the tables: each statement of the files makes one, whatever the comments say', () => {
  const files = ['../../../../services/inventory/schema.sql', '../../../../services/inventory/orders/schema.sql'];
  const statements = files.flatMap((file) => readSchema(new URL(file, import.meta.url)));

  for (const statement of statements) expect(statement).toMatch(/^CREATE TABLE IF NOT EXISTS tb_\w+ \(/);
  expect(statements).toHaveLength(7);
});

test('a table could not be made, and the last one could: the next connection tries again', async () => {
  const tables = [
    'CREATE TABLE IF NOT EXISTS made_later LIKE not_there_yet',
    'CREATE TABLE IF NOT EXISTS made (n INT)',
  ];
  const pool = connectMysql(await shop.database('half_made'), 2, tables);
  onTestFinished(() => pool.end());
  const first = await pool.getConnection();
  await expect(first.query('SELECT * FROM made_later')).rejects.toMatchObject({ code: 'ER_NO_SUCH_TABLE' });
  await first.query('CREATE TABLE not_there_yet (n INT)');

  const second = await pool.getConnection();

  expect(await second.query('SELECT * FROM made_later')).toMatchObject([[], expect.anything()]);
  for (const connection of [first, second]) connection.release();
});

test('a node starts while a transaction has the tables in use: it does not wait for it', async () => {
  const { id } = await buy(node, '001');
  const holder = await begin();
  await holder.query('SELECT * FROM tb_order, tb_intent, tb_payment, tb_supply FOR UPDATE');
  await holder.query('UPDATE tb_order SET changed_at = UTC_TIMESTAMP(3)');
  const { store } = openStore();

  expect(await store.find(id)).toMatchObject({ id });
});

test('sale: a deadlock on its order is tried again, and the order is written once', async () => {
  const before = await deadlocks();
  await supply(node, 'deadlock', 5);
  const { answer, resume } = await sellHeld(node, 'deadlock');
  const winner = await begin();
  await winner.query('SELECT * FROM tb_order FOR UPDATE');
  await resume();
  await until('it waits to insert', async () => (await shop.waiting('INSERT INTO tb_order')) === 1);
  // It has deleted its intent, and we wait for that.
  await winner.query("SELECT * FROM tb_intent WHERE sku = 'deadlock' FOR UPDATE");
  await winner.query('ROLLBACK');

  const { body, status } = await answer;

  expect(await deadlocks()).toBe(before + 1);
  expect(status).toBe(200);
  expect(await shop.ordersOf('deadlock')).toMatchObject([{ id: body.orderId, status: 'UNPAID' }]);
  expect([await shop.intentsOf('deadlock'), await shop.stockOf('deadlock')]).toEqual([[], 4]);
});

test('pay: a deadlock is tried again, and the payment is made once', async () => {
  const before = await deadlocks();
  const { id } = await buy(node, '001');
  const winner = await begin();
  await winner.query('SELECT * FROM tb_payment FOR UPDATE');
  const paying = post(node, `/orders/${id}/pay`);
  await until('it waits to pay', async () => (await shop.waiting('INSERT INTO tb_payment')) === 1);
  await winner.query('SELECT * FROM tb_order WHERE id = ? FOR UPDATE', [id]);
  await winner.query('ROLLBACK');

  expect((await paying).body).toMatchObject({ id, status: 'PAID' });
  expect(await deadlocks()).toBe(before + 1);
  expect(await shop.paymentsOf(id)).toEqual([{ kind: 'PAYMENT', amount: 1_000 }]);
});

test('pay: a row that stays locked is an answer, definite, and nothing is paid later', async () => {
  const { id } = await buy(node, '001');
  const holder = await begin();
  await holder.query('SELECT * FROM tb_order WHERE id = ? FOR UPDATE', [id]);

  expectProblem(await post(node, `/orders/${id}/pay`), 'STORE_UNAVAILABLE', { detail: /^MySQL/ });

  await until('MySQL has ended it', async () => (await shop.running('UPDATE tb_order')) === 0);
  await holder.query('ROLLBACK');
  expect((await node.get(`/orders/${id}`)).body).toMatchObject({ status: 'UNPAID' });
  expect(await shop.paymentsOf(id)).toEqual([]);
  expect((await post(node, `/orders/${id}/pay`)).body).toMatchObject({ status: 'PAID' });
});

test('pay: a node that stops ends the payments under way first', async () => {
  const leaving = await shop.openNode();
  const { id } = await buy(node, '001');
  const holder = await begin();
  await holder.query('SELECT * FROM tb_order WHERE id = ? FOR UPDATE', [id]);
  const paying = post(leaving, `/orders/${id}/pay`);
  await until('it waits for the row', async () => (await shop.waiting('UPDATE tb_order')) === 1);

  const stopped = leaving.part.stop();
  await until('it stops', () => leaving.lines.some((line) => line.includes('"stopping"')));
  await holder.query('ROLLBACK');

  expect((await paying).body).toMatchObject({ id, status: 'PAID' });
  await stopped;
  expect(leaving.lines.at(-1)).toContain('"stopped"');
});

test('transaction: it is tried again until it gets through, each time from its beginning', async () => {
  const { id } = await buy(node, '001');
  const { pool } = openStore();
  pool.pool.on('connection', (connection) => connection.query('SET innodb_lock_wait_timeout = 0'));
  const holder = await begin();
  await holder.query('SELECT * FROM tb_order WHERE id = ? FOR UPDATE', [id]);
  let tries = 0;

  const status = await inTransaction(pool, async (ask) => {
    tries += 1;
    if (tries === 3) await holder.query('ROLLBACK');
    const [row] = await ask<RowDataPacket[]>('SELECT status FROM tb_order WHERE id = ? FOR UPDATE', [id]);
    return row?.status;
  });

  expect([tries, status]).toEqual([3, 'UNPAID']);
});

test('transaction: a bug in it is not tried again, and undoes what was done before it', async () => {
  const { id } = await buy(node, '001');
  const { pool } = openStore();
  let tries = 0;

  const failing = inTransaction(pool, async (ask) => {
    tries += 1;
    await ask("UPDATE tb_order SET status = 'PAID' WHERE id = ?", [id]);
    await ask('SELECT nonsense');
  });

  await expect(failing).rejects.toMatchObject({ code: 'ER_BAD_FIELD_ERROR' });
  expect(tries).toBe(1);
  await until('it is undone', async () => (await node.get(`/orders/${id}`)).body.status === 'UNPAID');
  expect((await post(node, `/orders/${id}/pay`)).status).toBe(200);
});

function openStore(): { pool: Pool; store: OrderStore } {
  const pool = connectOrders(shop.url, 1);
  onTestFinished(() => pool.end());
  return { pool, store: createOrderStore(pool, settings) };
}
