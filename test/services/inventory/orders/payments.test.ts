// Payments that arrive in the stream: each is booked at least once, and what its key keeps from being booked twice.

import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { paymentsGroup, paymentsKey, refusedKey } from '../../../../services/inventory/orders/payments/stream.ts';
import { startLink, type TestNode, until } from '../node-under-test.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';

const PRICE = 1_000;
const nobody = '00000000-0000-4000-8000-000000000000';

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

const booking = { PAYMENTS: 'on', PAYMENT_MIN_IDLE_MS: '300' };

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

const pay = (order: string, amount = PRICE, key: string = randomUUID()) => send({ order, amount: `${amount}`, key });

async function pending() {
  const rows = await shop.redis.client.xpending(paymentsKey, paymentsGroup, '-', '+', 100);
  return (rows as [string, string, number, number][]).map(([id, consumer, , deliveries]) => [id, consumer, deliveries]);
}

/** Resolves when every message was given to somebody, and was acknowledged. */
async function allAcknowledged() {
  const isRead = async () => {
    const { client } = shop.redis;
    const groups = (await client.xinfo('GROUPS', paymentsKey)) as unknown[][];
    const [last] = await client.xrevrange(paymentsKey, '+', '-', 'COUNT', 1);
    return groups[0]?.[groups[0].indexOf('last-delivered-id') + 1] === last?.[0];
  };
  await until('all is acknowledged', async () => (await isRead()) && (await pending()).length === 0);
}

const amountsOf = async (order: string) => (await shop.paymentsOf(order)).map(({ amount }) => Number(amount));
const statusOf = async (order: string) => (await seller.get(`/orders/${order}`)).body.status;

/** Has the node's work wait for the row of the order, and resolves when it does. `free` lets it go on. */
async function holdWork(order: string, arrive: () => Promise<unknown>) {
  const connection = await shop.connect();
  await connection.query('START TRANSACTION');
  await connection.query('SELECT id FROM tb_order WHERE id = ? FOR UPDATE', [order]);
  await arrive();
  await until('the work waits for the row', async () => (await shop.waiting('SELECT id FROM tb_order')) > 0);
  return { free: () => connection.query('ROLLBACK') };
}

async function kill(node: TestNode) {
  node.signal('SIGKILL');
  await node.part.ended;
}

const logged = (node: TestNode, what: string) => node.lines.filter((line) => line.includes(`"${what}"`));

/** A line may come later than what it tells of. */
async function mustLog(node: TestNode, what: string, times: number) {
  await until(`${what} is logged`, () => logged(node, what).length >= times);
  expect(logged(node, what)).toHaveLength(times);
}

describe('a payment that arrives', () => {
  test('is booked, acknowledged, and makes the order PAID', async () => {
    const order = await orderToPay();
    await openConsumer();

    await pay(order);
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual([PRICE]);
    expect(await statusOf(order)).toBe('PAID');
  });

  test('is booked when it came before the first node that books payments', async () => {
    const order = await orderToPay();
    await pay(order);

    await openConsumer();
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual([PRICE]);
  });

  test('is a part: the order is PAID when all of it is there, and what comes then is booked, too', async () => {
    const order = await orderToPay();
    await openConsumer();

    await pay(order, 999);
    await allAcknowledged();
    expect(await statusOf(order)).toBe('UNPAID');
    await pay(order, 1);
    await allAcknowledged();
    expect(await statusOf(order)).toBe('PAID');
    await pay(order, 5);
    await allAcknowledged();

    expect((await amountsOf(order)).toSorted()).toEqual([1, 5, 999]);
    expect((await post(seller, `/orders/${order}/refund`)).body).toMatchObject({ status: 'REFUNDED' });
  });

  test('is one of two halves that both nodes book at the same moment: the order is PAID', async () => {
    const orders = await Promise.all(Array.from({ length: 3 }, orderToPay));
    await Promise.all([openConsumer(), openConsumer()]);

    for (const order of orders) await Promise.all([pay(order, PRICE / 2), pay(order, PRICE / 2)]);
    await allAcknowledged();

    for (const order of orders) {
      expect(await amountsOf(order)).toEqual([PRICE / 2, PRICE / 2]);
      expect(await statusOf(order)).toBe('PAID');
    }
  });

  test('is for an order that is closed: it is booked, and the order stays closed', async () => {
    const order = await orderToPay();
    await shop.query("UPDATE tb_order SET status = 'CLOSED', restored_at = UTC_TIMESTAMP(3) WHERE id = ?", [order]);
    await openConsumer();

    await pay(order);
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual([PRICE]);
    expect(await statusOf(order)).toBe('CLOSED');
  });

  test.each([
    ['table', 1],
    ['none', 2],
  ] as const)('comes as two messages with one key: booked %s, %i times', async (way, times) => {
    const order = await orderToPay();
    const key = randomUUID();
    await openConsumer({ IDEMPOTENCY: way });

    await pay(order, PRICE, key);
    await pay(order, PRICE, key);
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual(Array(times).fill(PRICE));
  });
});

describe('SIGKILL between the work and its XACK: the other node takes the message over', () => {
  test.each([
    ['none', 2],
    ['in-process', 2],
    ['lock', 2],
    ['table', 1],
  ] as const)('%s: booked %i times', async (way, times) => {
    const order = await orderToPay();
    // A claim without an answer would end soon.
    const env = { IDEMPOTENCY: way, LEASE_MS: '100', WAIT_TIMEOUT_MS: '100' };
    const link = await startLink(shop.redis.url);
    const doomed = await openConsumer({ ...env, REDIS_URL: link.url });
    const ack = link.holdNext('XACK');
    const id = await pay(order);
    await ack.arrived;
    // At once: a consumer whose XACK is not answered begins anew.
    await kill(doomed);
    ack.drop();
    expect(await amountsOf(order)).toEqual([PRICE]);
    expect(await pending()).toEqual([[id, doomed.name, 1]]);

    const heir = await openConsumer(env);
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual(Array(times).fill(PRICE));
    await until('it is logged', () => logged(heir, 'a payment is taken over').length > 0);
    expect(await shop.redis.client.exists(refusedKey)).toBe(0);
  });
});

describe('SIGKILL within the work: nothing is booked, and the payment is not lost', () => {
  test.each(['table'] as const)('%s: the other node books it, once', async (way) => {
    const order = await orderToPay();
    const env = { IDEMPOTENCY: way, LEASE_MS: '100', WAIT_TIMEOUT_MS: '100' };
    const doomed = await openConsumer(env);
    const { free } = await holdWork(order, () => pay(order));
    await kill(doomed);
    await free();
    expect(await amountsOf(order)).toEqual([]);

    await openConsumer(env);
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual([PRICE]);
    expect(await statusOf(order)).toBe('PAID');
  });

  test('the same node takes it over when it is back', async () => {
    const order = await orderToPay();
    const doomed = await openConsumer({ IDEMPOTENCY: 'none', NODE_NAME: 'phoenix' });
    const { free } = await holdWork(order, () => pay(order));
    await kill(doomed);
    await free();

    await openConsumer({ IDEMPOTENCY: 'none', NODE_NAME: 'phoenix' });
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual([PRICE]);
  });
});

describe('a consumer that lives', () => {
  test('keeps its message until that has been idle for PAYMENT_MIN_IDLE_MS', async () => {
    const order = await orderToPay();
    const env = { IDEMPOTENCY: 'none', PAYMENT_MIN_IDLE_MS: '60000' };
    const [link, otherLink] = [await startLink(shop.redis.url), await startLink(shop.redis.url)];
    const owner = await openConsumer({ ...env, REDIS_URL: link.url });
    const ack = link.holdNext('XACK');
    const id = await pay(order);
    await ack.arrived;

    await openConsumer({ ...env, REDIS_URL: otherLink.url });
    const looks = () => otherLink.counters.commands.get('XPENDING') ?? 0;
    await until('the other has looked at what is pending', () => looks() >= 2);

    expect(await pending()).toEqual([[id, owner.name, 1]]);
    await ack.letGo();
    await allAcknowledged();
    expect(await amountsOf(order)).toEqual([PRICE]);
  });

  test.each(['table'])(
    '%s: stops within its work for longer than that: the other is refused meanwhile',
    async (way) => {
      const order = await orderToPay();
      const env = { IDEMPOTENCY: way, PAYMENT_MIN_IDLE_MS: '10', LOG_LEVEL: 'debug' };
      const slow = await openConsumer({ ...env, PAYMENT_MIN_IDLE_MS: '60000' });
      onTestFinished(() => slow.signal('SIGCONT'));
      const { free } = await holdWork(order, () => pay(order));
      slow.signal('SIGSTOP');
      await free();
      const hasty = await openConsumer(env);
      await until('it was refused', () => logged(hasty, 'REQUEST_IN_PROGRESS').length > 0);
      expect(await amountsOf(order)).toEqual([]);

      slow.signal('SIGCONT');
      await allAcknowledged();

      expect(await amountsOf(order)).toEqual([PRICE]);
    },
  );
});

describe('a message that nobody can book', () => {
  test('is put aside with the reason, logged and acknowledged, and the next one is booked', async () => {
    const order = await orderToPay();
    const node = await openConsumer();
    const key = randomUUID();

    await send({ order, key: 'no-amount' });
    await send({ order, amount: '10.5', key: 'no-cents' });
    await send({ order, amount: '10', key: 'schlüssel' });
    await send({ order: 'one', amount: '10', key: 'no-order' });
    await pay(nobody);
    await pay(order, PRICE, key);
    await pay(order, PRICE + 1, key);
    await allAcknowledged();

    const refused = await shop.redis.client.xrange(refusedKey, '-', '+');
    const whys = refused.map(([, fields]) => fields[fields.indexOf('why') + 1]);
    expect(whys).toEqual([
      'amount: must be a text.',
      'amount: must be cents, a whole number from 1.',
      'key: must be signs of ASCII.',
      'order: must be the id of an order, which is a UUID.',
      `There is no order ${nobody}.`,
      expect.stringContaining(`The key payment:${key} was sent with`),
    ]);
    expect(refused[0]?.[1]).toEqual(expect.arrayContaining(['order', order, 'key', 'no-amount', 'id']));
    await mustLog(node, 'a payment is put aside', 6);
    expect(await amountsOf(order)).toEqual([PRICE]);
  });

  test('is gone from the stream: it is not pending for ever', async () => {
    const order = await orderToPay();
    const doomed = await openConsumer();
    const { free } = await holdWork(order, () => pay(order));
    await kill(doomed);
    await free();
    const [[id] = []] = await pending();
    await shop.redis.client.xdel(paymentsKey, String(id));
    const next = await orderToPay();
    await pay(next);

    await openConsumer();
    await allAcknowledged();

    expect([await amountsOf(order), await amountsOf(next)]).toEqual([[], [PRICE]]);
  });
});

describe('a server is away: payments wait, and go on', () => {
  /** A node that has booked a payment already. */
  async function openAtWork() {
    // What is on its way to a MySQL that does not answer becomes a claim when it arrives. It is to end soon.
    const far = await shop.openFarNode({ ...booking, LEASE_MS: '100', WAIT_TIMEOUT_MS: '100' });
    await pay(await orderToPay());
    await allAcknowledged();
    return far;
  }

  test('MySQL does not answer', async () => {
    const order = await orderToPay();
    const { node, toMysql } = await openAtWork();
    toMysql.cut('silent');
    await pay(order);
    await until('the node has noticed', () => logged(node, 'payments wait').length > 0);

    toMysql.restore();
    await allAcknowledged();

    expect(await amountsOf(order)).toEqual([PRICE]);
    expect(await statusOf(order)).toBe('PAID');
    await mustLog(node, 'payments wait', 1);
    await mustLog(node, 'payments go on', 1);
  });

  test('Redis does not answer, then loses all it had', async () => {
    const [order, next] = [await orderToPay(), await orderToPay()];
    const { node, toRedis } = await openAtWork();
    toRedis.cut('silent');
    await until('the node has noticed', () => logged(node, 'payments wait').length > 0);
    toRedis.restore();
    await pay(order);
    await allAcknowledged();
    expect(await amountsOf(order)).toEqual([PRICE]);

    toRedis.cut();
    await shop.redis.client.flushall();
    await until('the node has noticed', () => logged(node, 'payments wait').length > 1);
    toRedis.restore();
    await pay(next);
    await allAcknowledged();

    expect(await amountsOf(next)).toEqual([PRICE]);
    await mustLog(node, 'payments go on', 2);
    expect(logged(node, 'a bug')).toEqual([]);
    await supply(seller, '001', 1_000);
  });
});

describe('a node that books payments', () => {
  test('leaves no key in Redis when none has come', async () => {
    const link = await startLink(shop.redis.url);
    await openConsumer({ REDIS_URL: link.url });
    await until('it has looked', () => (link.counters.commands.get('XGROUP') ?? 0) > 1);

    expect(await shop.redis.client.keys('{payments}*')).toEqual([]);
  });

  test('stops: it ends the payment that it is at, acknowledges it, and begins no other', async () => {
    const [order, next] = [await orderToPay(), await orderToPay()];
    const node = await openConsumer();
    const { free } = await holdWork(order, () => pay(order));
    const id = await pay(next);

    node.signal('SIGTERM');
    await until('it is stopping', () => logged(node, 'stopping').length > 0);
    await free();

    expect(await node.part.ended).toMatch(/exit code 0/);
    expect([await amountsOf(order), await amountsOf(next)]).toEqual([[PRICE], []]);
    expect(await pending()).toEqual([]);
    await openConsumer();
    await allAcknowledged();
    expect(await amountsOf(next)).toEqual([PRICE]);
    expect((await shop.redis.client.xrange(paymentsKey, id, id)).length).toBe(1);
  });

  test('PAYMENTS=off: nobody reads the stream', async () => {
    const link = await startLink(shop.redis.url);
    const node = await shop.openNode({ REDIS_URL: link.url });
    onTestFinished(node.part.stop);
    const order = await orderToPay();
    await pay(order);
    const sold = await node.sell('001');

    expect(sold.status).toBe(200);
    expect([...link.counters.commands.keys()].filter((name) => name.startsWith('X'))).toEqual([]);
    expect(await amountsOf(order)).toEqual([]);
  });
});
