// A shop whose nodes write orders, on the servers of this worker, for the tests of one file.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, onTestFinished } from 'vitest';
import { balance, readAccounts } from '../../../../services/inventory/orders/accounts.ts';
import type { Order } from '../../../../services/inventory/orders/order.ts';
import { connectOrders } from '../../../../services/inventory/orders/order-store.ts';
import { connectStore } from '../../../../services/inventory/servers/store.ts';
import { bundledArgs } from '../../../../stack/bundle.ts';
import { doneStates } from '../../../../stack/mysql.ts';
import { makeTempDir } from '../../../../stack/parts.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { sharedMysql, sharedRedis } from '../../../own-stack.ts';
import { type Answer, ask, startHeldSale, startLink, startNode, type TestNode } from '../node-under-test.ts';

export async function openShop() {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  const [redis, mysql] = await Promise.all([sharedRedis(), sharedMysql()]);
  const url = await mysql.database('lockstep');

  /** A connection of the test's own, closed when the test has ended. */
  async function connect(): Promise<Connection> {
    const connection = await createConnection(url);
    onTestFinished(() => connection.destroy());
    return connection;
  }

  async function query(sql: string, values: unknown[] = []) {
    const connection = await createConnection(url);
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql, values);
      return rows;
    } finally {
      connection.destroy();
    }
  }

  /** What `npm run reconcile` works with. */
  function openBooks() {
    const books = { mysql: connectOrders(url, 1), store: connectStore(redis.url) };
    cleanUpLater(async () => {
      books.store.redis.disconnect();
      await books.mysql.end();
    });
    return books;
  }
  let books: ReturnType<typeof openBooks> | undefined;

  return {
    redis,
    url,
    books() {
      books ??= openBooks();
      return books;
    },
    /** What both stores hold of a sku, and what of it is in doubt or unexplained. */
    async accountOf(sku: string) {
      books ??= openBooks();
      await books.store.back();
      const found = (await readAccounts(books.mysql, books.store)).holdings.find((one) => one.sku === sku);
      if (found === undefined) throw new Error(`There is no account of ${sku}.`);
      return { ...found, ...balance(found) };
    },
    database: mysql.database,
    connect,
    query,
    /** A new node of the shop. */
    openNode: (env: NodeJS.ProcessEnv = {}, service?: string) =>
      startNode(redis.url, { MYSQL_URL: url, ...env }, service),
    /** A new node, and the links by which it reaches Redis and MySQL, until the test has ended. */
    async openFarNode(env: NodeJS.ProcessEnv = {}) {
      const [toRedis, toMysql] = await Promise.all([startLink(redis.url), startLink(url)]);
      const node = await startNode(toRedis.url, { MYSQL_URL: toMysql.url, ...env });
      onTestFinished(node.part.stop);
      return { node, toRedis, toMysql };
    },
    stockOf: async (sku: string) => Number(await redis.client.get(`{inventory${sku}}:stock`)),
    ordersOf: (sku: string) => query('SELECT * FROM tb_order WHERE sku = ? ORDER BY created_at, id', [sku]),
    intentsOf: (sku: string) => query('SELECT * FROM tb_intent WHERE sku = ?', [sku]),
    paymentsOf: (id: unknown) => query('SELECT kind, amount FROM tb_payment WHERE order_id = ? ORDER BY kind', [id]),
    /** How many statements that begin so wait for a row. */
    async waiting(statement: string) {
      const sql =
        'SELECT COUNT(*) AS waiting FROM information_schema.processlist WHERE info LIKE ? AND state NOT IN (?)';
      return Number((await query(sql, [`${statement}%`, doneStates]))[0]?.waiting);
    },
    /** How many statements that begin so are running, or were a moment ago. */
    async running(statement: string) {
      const sql = 'SELECT COUNT(*) AS running FROM information_schema.processlist WHERE info LIKE ?';
      return Number((await query(sql, [`${statement}%`]))[0]?.running);
    },
    /** Runs `npm run reconcile` in the shop, without npm. */
    async reconcile(flags: string[] = [], env: NodeJS.ProcessEnv = {}) {
      const child = spawn(process.execPath, [...(await bundledArgs('scripts/reconcile.ts')), ...flags], {
        cwd: temp.dir,
        env: { PATH: process.env.PATH, REDIS_URL: redis.url, MYSQL_URL: url, ...env },
        timeout: 20_000,
      });
      const [stdout, stderr, [exitCode]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      return { exitCode, stdout, stderr };
    },
  };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

export const post = (node: TestNode, path: string): Promise<Answer> => ask(`${node.url}${path}`, { method: 'POST' });

/** Puts units in stock as the lab does, so that the supply is written down. */
export async function supply(node: TestNode, sku: string, stock: number) {
  expect((await node.lab('PUT', '/stock', { sku, stock })).status).toBe(200);
}

/** Sells one unit, and resolves with its order. */
export async function buy(node: TestNode, sku: string): Promise<Order> {
  const sold = await node.sell(sku);
  expect(sold.body).toMatchObject({ outcome: 'sold', orderId: expect.any(String) });
  return (await node.get(`/orders/${sold.body.orderId}`)).body as unknown as Order;
}

/** Starts a sale, and resolves when it has taken its unit and given its lock up, and its order is not yet written. */
export const sellHeld = (node: TestNode, sku: string, key?: string) =>
  startHeldSale(node, sku, key, { beforeOrder: true });
