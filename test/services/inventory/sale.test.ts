import { beforeAll, describe, expect, test } from 'vitest';
import { locks } from '../../../locks/index.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import {
  ask,
  expectProblem,
  jsonBody,
  startHeldSale,
  startLink,
  startNode,
  type TestNode,
  until,
} from './node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url);
});

describe('sale: sold', () => {
  test.each(['POST', 'GET'])('%s answers who sold what', async (method) => {
    await setStock('sold', 10);

    const answer = await ask(`${node.url}/inventory/sale?sku=sold`, { method });

    const { instance } = await node.state();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toStrictEqual({
      outcome: 'sold',
      sku: 'sold',
      stockBefore: 10,
      remaining: 9,
      saleId: expect.stringMatching(/^\d{4}$/),
      node: node.name,
      lock: '8-auto-renew',
      holder: `${instance}:${answer.body.saleId}`,
    });
    expect(await stockOf('sold')).toBe('9');
  });

  test('two sales have two ids and two holders', async () => {
    await setStock('two', 10);

    const [first, second] = await Promise.all([node.sell('two'), node.sell('two')]);

    expect(first.body.saleId).not.toBe(second.body.saleId);
    expect(first.body.holder).not.toBe(second.body.holder);
    expect(await stockOf('two')).toBe('8');
  });

  test('the body names the sku', async () => {
    await setStock('in-body', 5);
    const answer = await ask(`${node.url}/inventory/sale`, { method: 'POST', ...jsonBody({ sku: 'in-body' }) });
    expect(answer.body).toMatchObject({ sku: 'in-body', remaining: 4 });
  });

  test('the sku is 001 when none is named, with and without an empty body', async () => {
    await setStock('001', 5);

    const get = await ask(`${node.url}/inventory/sale`);
    const post = await ask(`${node.url}/inventory/sale`, { method: 'POST' });
    const emptyObject = await ask(`${node.url}/inventory/sale`, { method: 'POST', ...jsonBody({}) });

    expect([get, post, emptyObject].map(({ body }) => body.remaining)).toEqual([4, 3, 2]);
  });

  test('the last unit is sold and no other', async () => {
    await setStock('last', 1);

    const first = await node.sell('last');
    const second = await node.sell('last');

    expect(first.body).toMatchObject({ outcome: 'sold', stockBefore: 1, remaining: 0 });
    expectProblem(second, 'OUT_OF_STOCK');
    expect(await stockOf('last')).toBe('0');
  });

  test.each(Object.keys(locks))('a sale under %s leaves no lock behind', async (name) => {
    await setStock('each', 5);
    await node.lab('PUT', '/lock-version', { version: name });

    const answer = await node.sell('each');

    await node.lab('PUT', '/lock-version', { version: 8 });
    expect(answer.body).toMatchObject({ outcome: 'sold', remaining: 4, lock: name });
    expect(await redis.client.keys('{inventoryeach}:lock:*')).toEqual([]);
  });
});

describe('sale: not sold', () => {
  test('an unknown sku is not found, and is not made', async () => {
    expectProblem(await node.sell('unknown'), 'NOT_FOUND', { detail: /unknown/ });
    expect(await stockOf('unknown')).toBeNull();
  });

  test('a stock that is no number is a bug, which the log names and the answer does not', async () => {
    await redis.client.set('{inventorybroken}:stock', 'many');

    const answer = await node.sell('broken');

    expectProblem(answer, 'INTERNAL_ERROR');
    expect(answer.text).not.toContain('many');
    await until('the log names it', () => node.lines.some((line) => /not a whole number.*"a bug"/.test(line)));
    expect(await stockOf('broken')).toBe('many');
  });

  test('a sale that lost its lock on the way is in doubt, and the stock has gone down', async () => {
    const losing = await startNode(redis.url, { LOCK_VERSION: '5' });
    await setStock('lost', 10);
    const { answer, resume } = await startHeldSale(losing, 'lost');
    // As the end of its lease does.
    await redis.client.del('{inventorylost}:lock:5-owner-check');
    await resume();

    expectProblem(await answer, 'LOCK_NOT_HELD', { definite: false });
    expect(await stockOf('lost')).toBe('9');
    expect((await losing.events()).map(({ type }) => type)).toEqual([
      'waiting',
      'entered',
      'read',
      'wrote',
      'left',
      'lease-lost',
      'failed',
    ]);
    expect((await losing.state()).counts).toMatchObject({ received: 1, sold: 0, inDoubt: 1 });
    expect(await metric(losing, 'lockstep_lease_losses_total', 'lock="5-owner-check"')).toBe(1);
  });
});

test('sale: under stage 8 the lock is renewed while the sale goes on', async () => {
  const link = await startLink(redis.url);
  const renewing = await startNode(link.url, { LEASE_MS: '3000' });
  await setStock('kept', 10);
  const { answer, resume } = await startHeldSale(renewing, 'kept');
  await until('the lease is renewed', () => (link.counters.commands.get('renew-if-owner') ?? 0) > 0);
  await resume();

  expect((await answer).body).toMatchObject({ outcome: 'sold', remaining: 9 });
});

describe('stock and health', () => {
  test('GET /inventory shows what remains', async () => {
    await setStock('shown', 7);
    const { status, body } = await node.get('/inventory?sku=shown');
    expect({ status, body }).toEqual({ status: 200, body: { sku: 'shown', remaining: 7 } });
  });

  test('GET /inventory of an unknown sku is not found', async () => {
    expectProblem(await node.get('/inventory?sku=unknown'), 'NOT_FOUND');
  });

  test('/healthz says alive, /readyz says ready', async () => {
    expect((await node.get('/healthz')).body).toEqual({ status: 'alive' });
    expect((await node.get('/readyz')).body).toEqual({ status: 'ready' });
  });

  test('/metrics counts sales by lock and outcome, and times waiting and holding', async () => {
    const series = {
      sold: ['lockstep_sales_total', 'lock="8-auto-renew",outcome="sold"'],
      soldOut: ['lockstep_sales_total', 'lock="8-auto-renew",outcome="soldOut"'],
      waits: ['lockstep_lock_wait_seconds_count', 'lock="8-auto-renew"'],
      holds: ['lockstep_lock_hold_seconds_count', 'lock="8-auto-renew"'],
    } as const;
    const read = async () => {
      const values = Object.entries(series).map(async ([name, [metricName, labels]]) => {
        return [name, await metric(node, metricName, labels)] as const;
      });
      return Object.fromEntries(await Promise.all(values)) as Record<keyof typeof series, number>;
    };
    await setStock('counted', 2);
    const before = await read();

    for (let sale = 1; sale <= 3; sale += 1) await node.sell('counted');

    const after = await read();
    const grown = Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, value - (before[name as keyof typeof series] || 0)]),
    );
    expect(grown).toEqual({ sold: 2, soldOut: 1, waits: 3, holds: 3 });
    expect(await metric(node, 'lockstep_lock_hold_seconds_sum', 'lock="8-auto-renew"')).toBeGreaterThan(0);
  });

  test('/metrics is Prometheus text, and says what each metric means', async () => {
    const { headers, text } = await node.get('/metrics');
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0.0.4/);
    expect(text.match(/^# TYPE lockstep_.*/gm)).toEqual([
      '# TYPE lockstep_sales_total counter',
      '# TYPE lockstep_lock_wait_seconds histogram',
      '# TYPE lockstep_lock_hold_seconds histogram',
      '# TYPE lockstep_lease_losses_total counter',
    ]);
  });
});

const setStock = (sku: string, stock: number) => redis.client.set(`{inventory${sku}}:stock`, stock);
const stockOf = (sku: string) => redis.client.get(`{inventory${sku}}:stock`);

/** The value of one series on the node's `/metrics`. */
async function metric(from: TestNode, name: string, labels: string): Promise<number> {
  const { text } = await from.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name}{${labels}}`));
  return Number(line?.split(' ').at(-1));
}
