import { once } from 'node:events';
import type { Pool } from 'mysql2/promise';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Order, type OrderStatus, orderStatuses } from '../../../../services/inventory/orders/order.ts';
import { connectOrders, createOrderStore } from '../../../../services/inventory/orders/order-store.ts';
import type { ProblemCode } from '../../../../services/inventory/problem.ts';
import { inTransaction } from '../../../../services/inventory/servers/transaction.ts';
import { ask, expectProblem, jsonBody, startNode, type TestNode, until } from '../node-under-test.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';
import { makeDue } from './own-ticks.ts';

const nobody = '00000000-0000-4000-8000-000000000000';

let shop: Shop;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  shop = await openShop();
  [node, other] = await Promise.all([
    shop.openNode({ UNIT_PRICE: '250', ORDER_TTL_MS: '60000' }),
    shop.openNode({ UNIT_PRICE: '250' }),
  ]);
  await supply(node, '001', 1000);
});

/** An order in this state, reached by the steps that lead there. */
async function orderIn(status: OrderStatus): Promise<Order> {
  const order = await buy(node, '001');
  if (status === 'PAID' || status === 'REFUNDED') await post(node, `/orders/${order.id}/pay`);
  if (status === 'REFUNDED') await post(node, `/orders/${order.id}/refund`);
  // Nobody but the clean-up closes orders.
  if (status === 'CLOSED') await shop.query("UPDATE tb_order SET status = 'CLOSED' WHERE id = ?", [order.id]);
  return (await node.get(`/orders/${order.id}`)).body as unknown as Order;
}

describe('a sale writes its order', () => {
  test('its answer names the order, and the other node knows it', async () => {
    const sold = await node.sell('001');
    const order = await other.get(`/orders/${sold.body.orderId}`);

    expect(order.status).toBe(200);
    expect(order.body).toStrictEqual({
      id: sold.body.orderId,
      sku: '001',
      quantity: 1,
      amount: 250,
      status: 'UNPAID',
      node: node.name,
      saleId: String(sold.body.holder).replace(/(?<=^.{8}).*(?=:)/, ''),
      lock: '8-auto-renew',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      dueAt: expect.any(String),
      changedAt: order.body.createdAt,
      restoredAt: null,
    } satisfies Record<keyof Order, unknown>);
    const { createdAt, dueAt } = order.body as unknown as Order;
    expect(Date.parse(dueAt) - Date.parse(createdAt)).toBe(60_000);
    // The zone of this process, of the node and of MySQL play no part.
    const [row] = await shop.query(
      `SELECT DATE_FORMAT(created_at, '%Y-%m-%dT%H:%i:%s') AS utc, TIMESTAMPDIFF(HOUR, created_at, UTC_TIMESTAMP(3)) AS hours
        FROM tb_order WHERE id = ?`,
      [sold.body.orderId],
    );
    expect(row).toEqual({ utc: createdAt.slice(0, 19), hours: 0 });
    expect(await shop.intentsOf('001')).toEqual([]);
  });

  test('ORDERS=off: none is written, the sale is answered as ever, and there is no clean-up', async () => {
    const plain = await startNode(shop.redis.url, { MYSQL_URL: shop.url, ORDERS: 'off', JOB_LOCK: 'zookeeper' });
    await supply(plain, 'plain', 5);

    const sold = await plain.sell('plain');

    const members = ['outcome', 'sku', 'stockBefore', 'remaining', 'saleId', 'node', 'port', 'lock', 'holder'];
    expect(Object.keys(sold.body)).toEqual(members);
    expectProblem(await plain.get('/orders'), 'NOT_FOUND');
    expectProblem(await plain.lab('POST', '/jobs/cleanup', {}), 'NOT_FOUND');
    expect([await shop.ordersOf('plain'), await shop.intentsOf('plain')]).toEqual([[], []]);
  });
});

describe('steps', () => {
  test('/metrics counts orders by what became of them, and shows the connections', async () => {
    const own = await shop.openNode({ MYSQL_ORDER_CONNECTIONS: '1' });
    const before = await own.get('/metrics');
    expect(before.text).toMatch(/^lockstep_mysql_connections\{pool="orders",state="free"\} \d+$/m);

    const [{ id }] = await Promise.all([buy(own, '001'), buy(own, '001')]);
    await post(own, `/orders/${id}/pay`);
    await post(own, `/orders/${id}/refund`);
    await shop.query('UPDATE tb_order SET due_at = created_at WHERE id = ?', [(await buy(own, '001')).id]);
    await own.lab('POST', '/jobs/cleanup', {});

    const { text } = await own.get('/metrics');
    const counted = [...text.matchAll(/^lockstep_orders_total\{outcome="(\w+)"\} (\d+)$/gm)];
    expect(Object.fromEntries(counted.map(([, outcome, count]) => [outcome, count]))).toMatchObject({
      ...{ placed: '3', paid: '1', refunded: '1', closed: '1' },
    });
    expect(text).toMatch(/^lockstep_mysql_connections\{pool="orders",state="free"\} 1$/m);
    expect(text).toMatch(/^lockstep_job_seconds_count\{job="cleanup",outcome="ran"\} 1$/m);
  });

  test('UNPAID → PAID → REFUNDED: each moves the money once and is seen on the other node', async () => {
    const { id, changedAt } = await buy(node, '001');
    const before = await shop.stockOf('001');

    const paid = await post(other, `/orders/${id}/pay`);
    expect([paid.status, paid.body.status, paid.body.id]).toEqual([200, 'PAID', id]);
    expect((await node.get(`/orders/${id}`)).body).toEqual(paid.body);
    expect(await shop.paymentsOf(id)).toEqual([{ kind: 'PAYMENT', amount: 250 }]);

    const refunded = await post(node, `/orders/${id}/refund`);
    expect([refunded.status, refunded.body.status]).toEqual([200, 'REFUNDED']);
    expect(String(refunded.body.changedAt) >= changedAt).toBe(true);
    expect((await other.get(`/orders/${id}`)).body).toEqual(refunded.body);
    expect(await shop.paymentsOf(id)).toEqual([
      { kind: 'PAYMENT', amount: 250 },
      { kind: 'REFUND', amount: 250 },
    ]);
    // The money goes back, and the goods do not.
    expect(await shop.stockOf('001')).toBe(before);
  });

  test.each([
    ['UNPAID', ['refund']],
    ['PAID', ['pay']],
    ['REFUNDED', ['pay', 'refund']],
    ['CLOSED', ['pay', 'refund']],
  ] as const)('%s: %j is refused, names the state, and changes nothing', async (status, steps) => {
    const before = await orderIn(status);
    const moved = await shop.paymentsOf(before.id);

    for (const step of steps) {
      const answer = await post(node, `/orders/${before.id}/${step}`);
      expectProblem(answer, 'ORDER_STATE', { detail: new RegExp(`${before.id} is ${status}\\b`) });
    }

    expect((await node.get(`/orders/${before.id}`)).body).toEqual(before);
    expect(await shop.paymentsOf(before.id)).toEqual(moved);
  });

  test.each([
    ['pay', 'UNPAID', 'PAYMENT'],
    ['refund', 'PAID', 'REFUND'],
  ] as const)('5 of %s at once over both nodes: one is done, 4 are refused', async (step, from, kind) => {
    const { id } = await orderIn(from);

    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => post(n % 2 ? node : other, `/orders/${id}/${step}`)),
    );

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'ORDER_STATE')).toHaveLength(4);
    expect((await shop.paymentsOf(id)).filter((payment) => payment.kind === kind)).toHaveLength(1);
  });
});

describe('the list of orders', () => {
  const ids = (answer: { body: Record<string, unknown> }) => (answer.body.orders as Order[]).map(({ id }) => id);

  test('goes page by page through all orders, the oldest first, also where many have the same time', async () => {
    // All have the same time.
    await makeDue(shop, node, 'list', 30);
    const all = await shop.query('SELECT id FROM tb_order ORDER BY created_at, id');

    const seen: string[] = [];
    let next: unknown = '';
    while (next !== null) {
      const page = await node.get(`/orders?limit=7${next ? `&after=${next}` : ''}`);
      expect(ids(page).length).toBeLessThanOrEqual(7);
      expect(page.body.next === null || page.body.next === ids(page).at(-1)).toBe(true);
      seen.push(...ids(page));
      next = page.body.next;
    }

    expect(seen).toEqual(all.map(({ id }) => id));
  });

  test('has 20 orders without a limit, and those of one status with it, each as it is alone', async () => {
    expect(ids(await node.get('/orders'))).toHaveLength(20);
    for (const status of orderStatuses) {
      const order = await orderIn(status);
      const orders = (await node.get(`/orders?status=${status}&limit=100`)).body.orders as Order[];
      expect(orders).toContainEqual(order);
      expect(new Set(orders.map((each) => each.status))).toEqual(new Set([status]));
    }
  });
});

test.each<[string, string, string, ProblemCode, object?]>([
  ['an id that nobody has', 'GET', `/orders/${nobody}`, 'NOT_FOUND'],
  ['to pay what nobody has ordered', 'POST', `/orders/${nobody}/pay`, 'NOT_FOUND'],
  ['an id that is SQL', 'GET', "/orders/'%20OR%201=1--", 'BAD_REQUEST'],
  ['a limit of 0', 'GET', '/orders?limit=0', 'BAD_REQUEST'],
  ['to POST an order', 'POST', '/orders', 'METHOD_NOT_ALLOWED'],
  ['an amount of the client', 'POST', `/orders/${nobody}/pay`, 'BAD_REQUEST', { amount: 0 }],
])('%s is refused', async (_what, method, path, code, body) => {
  expectProblem(await ask(`${node.url}${path}`, { method, ...(body && jsonBody(body)) }), code);
});

test('several skus are refused where sales write orders', async () => {
  const answer = await ask(`${node.url}/inventory/sale`, { method: 'POST', ...jsonBody({ skus: ['001', '002'] }) });

  expectProblem(answer, 'BAD_REQUEST', { detail: /^With orders, one sku is sold at a time\.$/ });
});

test('no node has logged a bug or a warning', () => {
  for (const { lines } of [node, other]) expect(lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
});

describe('two who want the same rows', () => {
  function openPool(): Pool {
    const pool = connectOrders(shop.url, 1);
    onTestFinished(() => pool.end());
    return pool;
  }

  /** A transaction of the test's own. */
  async function begin() {
    const connection = await shop.connect();
    await connection.query('START TRANSACTION');
    return connection;
  }

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

  test('refund: look-first pays twice when another refund comes between its look and its payment', async () => {
    const { id } = await orderIn('PAID');
    const pool = openPool();
    const store = createOrderStore(pool, { UNIT_PRICE: 250, ORDER_TTL_MS: 60_000, REFUND: 'look-first' });
    await store.find(id);
    const looks = once(pool.pool, 'acquire');
    const late = store.refund(id);
    await looks;
    // The only connection, as soon as it has looked.
    const held = await pool.getConnection();
    expect((await post(node, `/orders/${id}/refund`)).status).toBe(200);

    held.release();

    expect(await late).toMatchObject({ status: 'REFUNDED' });
    expect((await shop.paymentsOf(id)).map(({ kind }) => kind)).toEqual(['PAYMENT', 'REFUND', 'REFUND']);
    expectProblem(await post(node, `/orders/${id}/refund`), 'ORDER_STATE');
  });

  test.each([
    ['table-look-first', ['PAYMENT', 'REFUND', 'REFUND']],
    ['table', ['PAYMENT', 'REFUND']],
    ['table-in-transaction', ['PAYMENT', 'REFUND']],
  ] as const)('refund: %s, when another process has written the row behind its look', async (REFUND, kinds) => {
    const { id } = await orderIn('PAID');
    const store = createOrderStore(openPool(), { UNIT_PRICE: 250, ORDER_TTL_MS: 60_000, REFUND });
    const other = await begin();
    await other.query('INSERT INTO tb_refund (order_id, created_at) VALUES (?, UTC_TIMESTAMP(3))', [id]);
    const late = store.refund(id);
    await until('it has looked', async () => (await shop.running('INSERT IGNORE INTO tb_refund')) === 1);
    await other.query("UPDATE tb_order SET status = 'REFUNDED' WHERE id = ?", [id]);
    await other.query(
      "INSERT INTO tb_payment SELECT UUID(), id, 'REFUND', amount, created_at FROM tb_order WHERE id = ?",
      [id],
    );

    await other.query('COMMIT');

    const ending = await late.then(
      ({ status }) => status,
      ({ code }) => code,
    );
    expect(ending).toBe(REFUND === 'table-look-first' ? 'REFUNDED' : 'ORDER_STATE');
    expect((await shop.paymentsOf(id)).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('transaction: one that loses a deadlock is done again', async () => {
    const [first, second] = [await buy(node, '001'), await buy(node, '001')];
    const pool = openPool();
    const lock = 'SELECT id FROM tb_order WHERE id = ? FOR UPDATE';
    // A transaction that has changed many rows is the one that MySQL lets win.
    const winner = await begin();
    await shop.query('CREATE TABLE heavy (n INT PRIMARY KEY)');
    await winner.query(`INSERT INTO heavy VALUES ${Array.from({ length: 200 }, (_, n) => `(${n})`).join()}`);
    await winner.query(lock, [second.id]);
    let tries = 0;

    await inTransaction(pool, async (ask) => {
      tries += 1;
      await ask(lock, [first.id]);
      if (tries > 1) return;
      const won = winner.query(lock, [first.id]).then(() => winner.query('ROLLBACK'));
      await until('the winner waits', async () => (await shop.waiting('SELECT id FROM tb_order')) === 1);
      await ask(lock, [second.id]).finally(() => won);
    });

    expect(tries).toBe(2);
  });
});
