// What a node makes of the parts of the orders that a module brings.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { paymentsKey } from '../../../services/inventory/orders/payments/stream.ts';
import { makeTempDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { expectProblem, type TestNode, until } from '../../services/inventory/node-under-test.ts';
import { newKey, sellKeyed } from '../../services/inventory/orders/keyed.ts';
import { buy, openShop, type Shop, supply } from '../../services/inventory/orders/own-shop.ts';

const SKU = '001';
const temp = makeTempDir();
cleanUpLater(temp.remove);

function writeModule(name: string, source: string): string {
  const file = join(temp.dir, name);
  writeFileSync(file, source);
  return file;
}

/** A key says what is done with it. */
const parts = `
const KEEP = 'INSERT INTO tb_key (name, answer) VALUES (?, ?)';
let calls = 0;
export async function answerOnce({ key, work, mysql, redis }: any) {
  const [what] = key.split(' ');
  if (what === 'caught') return await work((also: any) => also.write(KEEP, ['taken', '{}'])).catch((error: any) => ({ code: error.code }));
  if (what === 'taken') return await work((also: any) => also.write(KEEP, ['taken', '{}']));
  if (what === 'counted') return { calls: (calls += 1), set: await redis.set('counted', 1), found: await mysql.write("DELETE FROM tb_key WHERE name = 'nobody'") };
  return await work();
}
export async function cleanUp({ readDue, inTransaction }: any) {
  for (const { id, sku, quantity } of await readDue()) {
    await inTransaction({ id, sku, quantity }, async (mysql: any) => {
      await mysql.write("UPDATE tb_order SET status = 'CLOSED', restored_at = UTC_TIMESTAMP(3) WHERE id = ?", [id]);
      if (sku === 'half') return;
      await mysql.write('INSERT INTO tb_stock (sku, stock) VALUES (?, ?) ON DUPLICATE KEY UPDATE stock = stock + VALUES(stock)', [sku, quantity]);
    });
  }
}
export async function takePayment({ message, book, redis }: any) {
  const booked = await book((mysql: any) => mysql.write('INSERT INTO tb_key (name) VALUES (?)', [message.key]));
  await redis.rpush('taken', message.key + ' ' + booked);
  await redis.xack('${paymentsKey}', 'orders', message.id);
}
`;

let shop: Shop;
let node: TestNode;

beforeAll(async () => {
  shop = await openShop();
  node = await shop.openNode(
    {
      ORDER_MODULE: writeModule('parts.ts', parts),
      ORDER_TTL_MS: '1',
      PAYMENTS: 'on',
      PAYMENT_MIN_IDLE_MS: '200',
      LOCK_VERSION: 'mysql-conditional',
      LOG_LEVEL: 'error',
    },
    'workshop/exercises/orders/node.ts',
  );
  await supply(node, SKU, 100);
});

const stock = async () => Number((await shop.query('SELECT stock FROM tb_stock WHERE sku = ?', [SKU]))[0]?.['stock']);
const keyFor = (what: string) => newKey().replace('"', `"${what} `);

describe('answerOnce', () => {
  test('takes the place of the strategy, and is given MySQL and Redis', async () => {
    const answers = [await sellKeyed(node, SKU, keyFor('counted')), await sellKeyed(node, SKU, keyFor('counted'))];

    expect(answers.map(({ body }) => body)).toEqual([
      { calls: 1, set: 'OK', found: 0 },
      { calls: 2, set: 'OK', found: 0 },
    ]);
    // It answers without the work, so it is a repeat.
    expect(answers[0]?.headers.get('idempotent-replayed')).toBe('true');
  });

  test('a row whose key is there undoes the order, puts the unit back, and asks the client to come again', async () => {
    const before = await stock();
    const first = await sellKeyed(node, SKU, keyFor('taken'));
    const again = await sellKeyed(node, SKU, keyFor('taken'));
    const caught = await sellKeyed(node, SKU, keyFor('caught'));

    expect(first.status).toBe(200);
    expectProblem(again, 'REQUEST_IN_PROGRESS', { definite: false });
    expect(caught.body).toEqual({ code: 'REQUEST_IN_PROGRESS' });
    expect(await stock()).toBe(before - 1);
    expect(await shop.intentsOf(SKU)).toEqual([]);
  });
});

describe('cleanUp', () => {
  async function tickAfter(sku: string) {
    await shop.query('DELETE FROM tb_order');
    await supply(node, sku, 1);
    await buy(node, sku);
    return (await node.lab('POST', '/jobs/cleanup', {})).body;
  }

  test('takes the place of every guard, and what its statements have changed is what is told of it', async () => {
    expect(await tickAfter('whole')).toMatchObject({ outcome: 'ran', due: 1, closed: 1, restored: 1 });
    await node.lab('PUT', '/jobs/cleanup', { guard: { lock: 'none' } });
    expect(await tickAfter('half')).toMatchObject({ outcome: 'ran', due: 1, closed: 1, restored: 0 });
  });
});

describe('takePayment', () => {
  const pay = (order: string, key: string) =>
    shop.redis.client.xadd(paymentsKey, '*', 'order', order, 'amount', '1', 'key', key);

  test('takes the place of ours: a key that is there books nothing', async () => {
    const { id } = await buy(node, SKU);
    for (let times = 0; times < 2; times += 1) await pay(id, 'pay-1');

    await until('both are taken', async () => (await shop.redis.client.llen('taken')) === 2);
    expect(await shop.redis.client.lrange('taken', 0, -1)).toEqual(['pay-1 true', 'pay-1 false']);
    expect(await shop.paymentsOf(id)).toEqual([{ kind: 'PAYMENT', amount: 1 }]);
  });
});
