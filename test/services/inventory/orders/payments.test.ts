// Payments that arrive in the stream: each is booked at least once, and what its key keeps from being booked twice.

import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { paymentsGroup, paymentsKey, refusedKey } from '../../../../services/inventory/orders/payments/stream.ts';
import { expectProblem, startLink, type TestNode, until } from '../node-under-test.ts';
import { newKey, openPair, postKeyed, sellKeyed } from './keyed.ts';
import { type MysqlLine, openMysqlLine } from './mysql-line.ts';
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

describe('the first request dies, stands still, or never learns what MySQL has written: what a repeat gets', () => {
  /** Where the repeats go. */
  let other: TestNode;
  /** It reaches MySQL through a line that breaks where a test says. */
  let atLine: TestNode;
  let line: MysqlLine;

  beforeAll(async () => {
    line = await openMysqlLine(shop.url);
    [other, atLine] = await Promise.all([shop.openNode(), shop.openNode({ MYSQL_URL: line.url })]);
  });

  async function whereabouts(sku: string) {
    const [inStock, orders, intents] = await Promise.all([shop.stockOf(sku), shop.ordersOf(sku), shop.intentsOf(sku)]);
    return { inStock, ordered: orders.length, intended: intents.length };
  }

  /** The time of the first request runs out, though it has no answer. */
  const endClaims = () => shop.query('UPDATE tb_request SET claimed_until = claimed_until - INTERVAL 1 HOUR');

  /** Starts a sale that stays at a step, and resolves when it is there. */
  async function sellUpTo(step: 'beforeOrder' | 'beforeAnswer', node: TestNode, sku: string, key: string) {
    await node.lab('PUT', '/next-sale', { [step]: true });
    const answer = sellKeyed(node, sku, key);
    answer.catch(() => {});
    await until('it is held', async () => (await node.state()).held === 1);
    return { answer, resume: () => node.lab('PUT', '/resume') };
  }

  async function kill(node: TestNode) {
    node.signal('SIGKILL');
    await node.part.ended;
  }

  describe('SIGKILL before the answer, the order is written', () => {
    test.each([
      ['none', 2],
      ['in-process', 2],
      ['table', 1],
    ] as const)('%s: %i orders', async (way, orders) => {
      const { first, second } = await openPair(shop, way);
      const [sku, key] = [`written-${way}`, newKey()];
      await supply(first, sku, 5);
      const { answer } = await sellUpTo('beforeAnswer', first, sku, key);

      await kill(first);
      await expect(answer).rejects.toThrow();
      const again = await sellKeyed(second, sku, key);

      expect(again.status).toBe(200);
      expect(await whereabouts(sku)).toEqual({ inStock: 5 - orders, ordered: orders, intended: 0 });
      const [order] = await shop.ordersOf(sku);
      if (orders === 1) expect(again.body).toMatchObject({ orderId: order?.id, node: first.name });
    });

    test('lock: refused until the lock of the dead node ends, and then a second order', async () => {
      const { first, second } = await openPair(shop, 'lock');
      const key = newKey();
      await supply(first, 'written-lock', 5);
      await sellUpTo('beforeAnswer', first, 'written-lock', key);
      await kill(first);

      expectProblem(await sellKeyed(second, 'written-lock', key), 'REQUEST_IN_PROGRESS', { definite: false });
      // As the end of its lease does.
      expect(await shop.redis.client.del(`request:${JSON.parse(key)}`)).toBe(1);
      expect((await sellKeyed(second, 'written-lock', key)).status).toBe(200);

      expect(await whereabouts('written-lock')).toEqual({ inStock: 3, ordered: 2, intended: 0 });
    });
  });

  describe('table: the unit is taken, and no order is written', () => {
    test('SIGKILL: refused while the claim lasts, then one order; the intent tells of the other unit', async () => {
      const doomed = await shop.openNode();
      const key = newKey();
      await supply(doomed, 'taken', 5);
      await sellUpTo('beforeOrder', doomed, 'taken', key);
      await kill(doomed);

      expectProblem(await sellKeyed(other, 'taken', key), 'REQUEST_IN_PROGRESS', { definite: false });
      await endClaims();
      const again = await sellKeyed(other, 'taken', key);

      expect(again.body).toMatchObject({ outcome: 'sold', node: other.name });
      expect(await whereabouts('taken')).toEqual({ inStock: 3, ordered: 1, intended: 1 });
      expect((await sellKeyed(other, 'taken', key)).text).toBe(again.text);
      expect(await whereabouts('taken')).toEqual({ inStock: 3, ordered: 1, intended: 1 });
    });

    test('the first was only slow: it finds that its claim is gone, puts its unit back, and makes no order', async () => {
      const key = newKey();
      await supply(atLine, 'slow', 5);
      const { answer, resume } = await sellUpTo('beforeOrder', atLine, 'slow', key);
      await endClaims();
      const heir = await sellKeyed(other, 'slow', key);
      expect(heir.body).toMatchObject({ outcome: 'sold', node: other.name });

      await resume();

      // The heir has sold with the same key, so this buyer must not read that nothing was sold.
      expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /the unit is back in stock\.$/ });
      expect(await whereabouts('slow')).toEqual({ inStock: 4, ordered: 1, intended: 0 });
      for (const node of [atLine, other]) expect((await sellKeyed(node, 'slow', key)).text).toBe(heir.text);
    });

    test('the order is certainly not written: the key is free at once, and a repeat sells', async () => {
      const key = newKey();
      await supply(atLine, 'refused', 5);
      line.cutAt('INSERT INTO tb_order', 'before');
      expectProblem(await sellKeyed(atLine, 'refused', key), 'ORDER_FAILED', { detail: /is back in stock/ });

      expect((await sellKeyed(other, 'refused', key)).status).toBe(200);

      expect(await whereabouts('refused')).toMatchObject({ inStock: 4, ordered: 1 });
    });

    test('the answer can’t be stored: there is no order, either', async () => {
      const key = newKey();
      await supply(atLine, 'unstored', 5);
      line.cutAt('UPDATE tb_request SET status', 'before');

      expectProblem(await sellKeyed(atLine, 'unstored', key), 'ORDER_FAILED', { detail: /is back in stock/ });

      await until('the intent is forgotten', async () => (await shop.intentsOf('unstored')).length === 0);
      expect(await whereabouts('unstored')).toEqual({ inStock: 5, ordered: 0, intended: 0 });
      expect((await sellKeyed(other, 'unstored', key)).status).toBe(200);
      expect(await whereabouts('unstored')).toEqual({ inStock: 4, ordered: 1, intended: 0 });
    });
  });

  describe('table: nobody has heard what became of COMMIT', () => {
    test('it has arrived: the first is in doubt, and a repeat gets the order', async () => {
      const key = newKey();
      await supply(atLine, 'answered', 5);
      line.cutAt('COMMIT', 'answered');
      expectProblem(await sellKeyed(atLine, 'answered', key), 'ORDER_FAILED', { definite: false });

      const again = await sellKeyed(other, 'answered', key);

      const [order] = await shop.ordersOf('answered');
      expect(again.body).toMatchObject({ outcome: 'sold', orderId: order?.id, node: atLine.name });
      expect(await whereabouts('answered')).toEqual({ inStock: 4, ordered: 1, intended: 0 });
    });

    test('it is lost: the first is in doubt, and a repeat sells', async () => {
      const key = newKey();
      await supply(atLine, 'before', 5);
      line.cutAt('COMMIT', 'before');
      expectProblem(await sellKeyed(atLine, 'before', key), 'ORDER_FAILED', { definite: false });
      await until('MySQL has noticed', async () => (await shop.running('COMMIT')) === 0);

      const again = await sellKeyed(other, 'before', key);

      expect(again.body).toMatchObject({ outcome: 'sold', node: other.name });
      expect(await whereabouts('before')).toEqual({ inStock: 3, ordered: 1, intended: 1 });
    });
  });

  describe('table: a refund', () => {
    async function payOne(sku: string): Promise<string> {
      await supply(other, sku, 5);
      const { id } = await buy(other, sku);
      await post(other, `/orders/${id}/pay`);
      return id;
    }
    const isRefunded = async (id: string) =>
      (await shop.query("SELECT id FROM tb_order WHERE id = ? AND status = 'REFUNDED'", [id])).length === 1;
    const paymentsOf = async (id: string) => (await shop.paymentsOf(id)).map(({ kind }) => kind);

    test('SIGKILL between COMMIT and the answer: a repeat gets the answer, and there is one refund', async () => {
      const doomed = await shop.openNode({ MYSQL_URL: line.url });
      const [id, key] = [await payOne('refund-killed'), newKey()];
      line.keepAnswerTo('COMMIT');
      const answer = postKeyed(doomed, `/orders/${id}/refund`, key);
      answer.catch(() => {});
      await until('the refund is written', () => isRefunded(id));

      await kill(doomed);
      await expect(answer).rejects.toThrow();
      const again = await postKeyed(other, `/orders/${id}/refund`, key);

      expect(again.status).toBe(200);
      expect(again.body).toMatchObject({ id, status: 'REFUNDED' });
      expect(await paymentsOf(id)).toEqual(['PAYMENT', 'REFUND']);
      // Another key is a request of its own.
      expectProblem(await postKeyed(other, `/orders/${id}/refund`, newKey()), 'ORDER_STATE');
    });

    test.each([
      ['the answer to COMMIT is lost', 'COMMIT', 'answered', { definite: false }],
      ['COMMIT is lost', 'COMMIT', 'before', { definite: false }],
    ] as const)(
      '%s: a repeat is answered REFUNDED, and there is one refund',
      async (_what, statement, when, expected) => {
        const [id, key] = [await payOne(`refund-${statement.slice(0, 3)}-${when}`), newKey()];
        line.cutAt(statement, when);
        expectProblem(await postKeyed(atLine, `/orders/${id}/refund`, key), 'STORE_UNAVAILABLE', expected);
        await until('MySQL has noticed', async () => (await shop.running('COMMIT')) === 0);

        const again = await postKeyed(other, `/orders/${id}/refund`, key);

        expect(again.body).toMatchObject({ id, status: 'REFUNDED' });
        expect(await paymentsOf(id)).toEqual(['PAYMENT', 'REFUND']);
      },
    );
  });

  test('no node has logged a bug or a warning', () => {
    for (const { lines } of [other, atLine]) expect(lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
  });
});
