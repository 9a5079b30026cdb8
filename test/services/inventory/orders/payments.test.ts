// Payments that arrive in the stream: each is booked at least once, and what its key keeps from being booked twice.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { paymentsGroup, paymentsKey, refusedKey } from '../../../../services/inventory/orders/payments/stream.ts';
import { type Link, openLink } from '../../../../stack/proxy/link.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { ask, startLink, type TestNode, until } from '../node-under-test.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';

const PRICE = 1_000;
const nobody = '00000000-0000-4000-8000-000000000000';
/** A message that was left is taken over at once. */
const booking = { PAYMENTS: 'on', PAYMENT_MIN_IDLE_MS: '10' };

let shop: Shop;
/** It sells, and books no payment that arrives. */
let seller: TestNode;

beforeAll(async () => {
  shop = await openShop();
  seller = await shop.openNode();
  await supply(seller, '001', 1_000);
});

beforeEach(async () => {
  await shop.redis.client.del(paymentsKey, refusedKey);
});

/** A node that books payments until the test has ended. */
async function openConsumer(env: NodeJS.ProcessEnv = {}): Promise<TestNode> {
  const node = await shop.openNode({ ...booking, ...env });
  onTestFinished(node.part.stop);
  return node;
}

const orderToPay = async () => (await buy(seller, '001')).id;

/** Sends a message as a payment provider does, and resolves with its id. */
async function send(fields: Record<string, string>): Promise<string> {
  return String(await shop.redis.client.xadd(paymentsKey, '*', ...Object.entries(fields).flat()));
}

/** In one step: a message comes, and somebody who is no node is given it. */
const giveToSomebody = () =>
  shop.redis.client
    .multi()
    .xgroup('CREATE', paymentsKey, paymentsGroup, '0', 'MKSTREAM')
    .xadd(paymentsKey, '1-1', 'order', nobody)
    .xreadgroup('GROUP', paymentsGroup, 'somebody', 'STREAMS', paymentsKey, '>');

const pay = (order: string, amount = PRICE, key: string = randomUUID()) => send({ order, amount: `${amount}`, key });

async function pending() {
  const rows = await shop.redis.client.xpending(paymentsKey, paymentsGroup, '-', '+', 100);
  return (rows as [string, string, number, number][]).map(([id, consumer, , deliveries]) => ({
    id,
    consumer,
    deliveries,
  }));
}

/** True when every message was given to somebody. */
async function isRead() {
  const { client } = shop.redis;
  const groups = (await client.xinfo('GROUPS', paymentsKey)) as unknown[][];
  const [last] = await client.xrevrange(paymentsKey, '+', '-', 'COUNT', 1);
  return groups[0]?.[groups[0].indexOf('last-delivered-id') + 1] === last?.[0];
}

async function allAcknowledged() {
  await until('all is acknowledged', async () => {
    // That of a consumer that has died, or has not been answered.
    await endClaims();
    return (await isRead()) && (await pending()).length === 0;
  });
}

const endClaims = () => shop.query('UPDATE tb_request SET claimed_until = claimed_until - INTERVAL 1 HOUR');

const amountsOf = async (order: string) => (await shop.paymentsOf(order)).map(({ amount }) => Number(amount));
const statusOf = async (order: string) => (await seller.get(`/orders/${order}`)).body.status;

async function kill(node: TestNode) {
  node.signal('SIGKILL');
  await node.part.ended;
}

const logged = (node: TestNode, what: string) => node.lines.filter((line) => line.includes(`"${what}"`)).length;

describe('a payment that arrives', () => {
  let node: TestNode;

  beforeAll(async () => {
    await shop.redis.client.del(paymentsKey);
    node = await shop.openNode(booking);
  });

  afterAll(() => node.part.stop());

  test('is booked, also in parts, and for an order that is closed: an order is PAID when all of it is there', async () => {
    // The node asks for its group all the time, and leaves no key before the first payment.
    expect(await shop.redis.client.keys('{payments}*')).toEqual([]);
    const [order, closed] = [await orderToPay(), await orderToPay()];
    await shop.query("UPDATE tb_order SET status = 'CLOSED', restored_at = UTC_TIMESTAMP(3) WHERE id = ?", [closed]);
    const statuses: unknown[] = [];

    await pay(closed);
    for (const amount of [999, 1, 5]) {
      await pay(order, amount);
      await allAcknowledged();
      statuses.push(await statusOf(order));
    }

    expect(statuses).toEqual(['UNPAID', 'PAID', 'PAID']);
    expect((await amountsOf(order)).toSorted()).toEqual([1, 5, 999]);
    expect((await post(seller, `/orders/${order}/refund`)).body).toMatchObject({ status: 'REFUNDED' });
    expect([await amountsOf(closed), await statusOf(closed)]).toEqual([[PRICE], 'CLOSED']);
  });

  test('has the key that a buyer has made up for a sale: it is booked all the same', async () => {
    const [order, key] = [await orderToPay(), randomUUID()];
    for (const sign of [':', '→']) {
      const headers = { 'idempotency-key': Buffer.from(`"payment${sign}${key}"`).toString('latin1') };
      await ask(`${node.url}/inventory/sale?sku=001`, { method: 'POST', headers });
    }

    await pay(order, PRICE, key);
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual([PRICE]);
  });

  test('is one that nobody can book: it is put aside with the reason; and what comes twice is booked once', async () => {
    const [order, key] = [await orderToPay(), randomUUID()];

    await send({ order, key: 'no-amount' });
    await send({ order, amount: '10.5', key: 'no-cents' });
    await send({ order, amount: '10', key: 'schlüssel' });
    await send({ order: 'one', amount: '10', key: 'no-order' });
    await pay(nobody);
    for (const amount of [PRICE, PRICE, PRICE + 1]) await pay(order, amount, key);
    await allAcknowledged();

    const refused = await shop.redis.client.xrange(refusedKey, '-', '+');
    const whys = refused.map(([, fields]) => fields[fields.indexOf('why') + 1]);
    expect(whys).toEqual([
      'amount: must be a string.',
      'amount: must be cents, a whole number from 1.',
      'key: must be ASCII characters.',
      'order: must be the id of an order, which is a UUID.',
      `There is no order ${nobody}.`,
      expect.stringContaining(`The key payment→${key} was first sent with`),
    ]);
    expect(refused[0]?.[1]).toEqual(expect.arrayContaining(['order', order, 'key', 'no-amount', 'id']));
    await until('each is logged', () => logged(node, 'a payment is dead-lettered') === 6);
    expect(await amountsOf(order)).toEqual([PRICE]);
  });

  test('runs into a bug: it is put aside after 5 deliveries, with the reason', async () => {
    const order = await orderToPay();
    // Not the table: a node may be making those that are not there.
    const rename = (from: string, to: string) => shop.query(`ALTER TABLE tb_payment RENAME COLUMN ${from} TO ${to}`);
    await rename('kind', 'away');
    onTestFinished(async () => void (await rename('away', 'kind')));
    const before = logged(node, 'a payment is dead-lettered');
    await pay(order);

    await until('it is put aside', () => logged(node, 'a payment is dead-lettered') > before);
    await allAcknowledged();

    expect(logged(node, 'a bug')).toBe(5);
    const [[, fields = []] = []] = await shop.redis.client.xrange(refusedKey, '-', '+');
    expect(fields[fields.indexOf('why') + 1]).toContain("'kind'");
  });
});

test('a node dies between the work and its XACK, and its heir within the work: each payment is booked once', async () => {
  const [first, second] = [await orderToPay(), await orderToPay()];
  const link = await startLink(shop.redis.url);
  const doomed = await openConsumer({ REDIS_URL: link.url });
  const ack = link.holdNext('XACK');
  await pay(first);
  await ack.arrived;
  await kill(doomed);
  ack.drop();
  expect(await amountsOf(first)).toEqual([PRICE]);
  expect(await pending()).toMatchObject([{ consumer: doomed.name }]);

  const heir = await openConsumer({ NODE_NAME: 'phoenix' });
  await allAcknowledged();
  await until('it is logged', () => logged(heir, 'a payment is claimed from another consumer') > 0);
  // All work on the order waits for its row.
  const connection = await shop.connect();
  await connection.query('START TRANSACTION');
  await connection.query('SELECT id FROM tb_order WHERE id = ? FOR UPDATE', [second]);
  await pay(second);
  await until('the work waits for the row', async () => (await shop.waiting('SELECT id FROM tb_order')) === 1);
  await kill(heir);
  await connection.query('ROLLBACK');
  expect(await amountsOf(second)).toEqual([]);

  // The same node takes it over when it is back.
  await openConsumer({ NODE_NAME: 'phoenix' });
  await allAcknowledged();

  expect([await amountsOf(first), await amountsOf(second)]).toEqual([[PRICE], [PRICE]]);
  expect(await statusOf(second)).toBe('PAID');
});

describe('a node that takes over what was idle for a minute', () => {
  let link: Link;
  let node: TestNode;

  beforeAll(async () => {
    link = await openLink(shop.redis.url);
    cleanUpLater(link.close);
    node = await shop.openNode({ ...booking, PAYMENT_MIN_IDLE_MS: '60000', REDIS_URL: link.url });
  });

  afterAll(() => node.part.stop());

  test('keeps its hands off a message that somebody was given just now', async () => {
    await giveToSomebody().exec();
    const looks = () => link.counters.commands.get('XPENDING') ?? 0;
    const before = looks();

    await until('it has looked at what is pending', () => looks() > before + 1);

    expect(await pending()).toEqual([{ id: '1-1', consumer: 'somebody', deliveries: 1 }]);
  });

  test('and stops: it acknowledges the payment that it is at, and begins no other', async () => {
    const [order, next] = [await orderToPay(), await orderToPay()];
    const ack = link.holdNext('XACK');
    await pay(order);
    await ack.arrived;

    node.signal('SIGTERM');
    await until('it is stopping', () => logged(node, 'stopping') > 0);
    await pay(next);
    await ack.letGo();

    expect(await node.part.ended).toMatch(/exit code 0/);
    await until('it is acknowledged', async () => (await pending()).length === 0);
    expect([await amountsOf(order), await amountsOf(next)]).toEqual([[PRICE], []]);
  });
});

test('MySQL does not answer, then Redis goes away and loses all it had: payments wait, and go on', async () => {
  const { node, toRedis, toMysql } = await shop.openFarNode(booking);
  const orders = [await orderToPay(), await orderToPay(), await orderToPay()] as const;
  await pay(orders[0]);
  await allAcknowledged();

  toMysql.cut('silent');
  await pay(orders[1]);
  await until('the node has noticed', () => logged(node, 'MySQL is unavailable') > 0);
  toMysql.restore();
  await allAcknowledged();

  toRedis.cut();
  await shop.redis.client.flushall();
  await until('the node has noticed', () => logged(node, 'Redis is unavailable') > 0);
  toRedis.restore();
  await pay(orders[2]);
  await allAcknowledged();

  for (const order of orders) expect(await amountsOf(order)).toEqual([PRICE]);
  expect(logged(node, 'a bug')).toBe(0);
});
