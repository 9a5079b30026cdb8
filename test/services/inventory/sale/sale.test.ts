import { beforeAll, describe, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { ask, expectProblem, jsonBody, startHeldSale, startNode, type TestNode } from '../node-under-test.ts';

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
      port: node.port,
      lock: '8-auto-renew',
      holder: `${instance}:${answer.body.saleId}`,
    });
    expect(await stockOf('sold')).toBe('9');
  });

  test('the body names the sku, and it is 001 when none is named', async () => {
    await setStock('001', 3);
    await setStock('in-body', 1);
    const post = (init = {}) => ask(`${node.url}/inventory/sale`, { method: 'POST', ...init });

    const unnamed = [await ask(`${node.url}/inventory/sale`), await post(), await post(jsonBody({}))];

    expect(unnamed.map(({ body }) => body.remaining)).toEqual([2, 1, 0]);
    expect((await post(jsonBody({ sku: 'in-body' }))).body).toMatchObject({ sku: 'in-body', remaining: 0 });
    expectProblem(await post(jsonBody({ sku: 'in-body' })), 'OUT_OF_STOCK');
    expect(await stockOf('in-body')).toBe('0');
  });
});

describe('sale: not sold', () => {
  test('an unknown sku is not found, is not made, and is not shown', async () => {
    for (const answer of [await node.sell('unknown'), await node.get('/inventory?sku=unknown')])
      expectProblem(answer, 'NOT_FOUND', { detail: /unknown/ });
    expect(await stockOf('unknown')).toBeNull();
  });

  test('a sale that lost its lock on the way is in doubt, and the stock has gone down', async () => {
    await node.lab('PUT', '/lock-version', { version: 5 });
    await node.lab('DELETE', '/history');
    await setStock('lost', 10);
    const { answer, resume } = await startHeldSale(node, 'lost');
    // As the end of its lease does.
    await redis.client.del('{inventorylost}:lock:5-owner-check');
    await resume();

    expectProblem(await answer, 'LOCK_NOT_HELD', { definite: false });
    expect(await stockOf('lost')).toBe('9');
    const types = (await node.events()).map(({ type }) => type);
    expect(types.join()).toBe('waiting,entered,read,wrote,left,lease-lost,failed');
    expect((await node.state()).counts).toMatchObject({ received: 1, sold: 0, inDoubt: 1 });
    expect(await metric('lockstep_lease_losses_total', 'lock="5-owner-check"')).toBe(1);
    await node.lab('PUT', '/lock-version', { version: 8 });
  });
});

test('/metrics counts sales by lock and outcome, and times waiting and holding', async () => {
  const lock = 'lock="8-auto-renew"';
  const read = () =>
    Promise.all([
      metric('lockstep_sales_total', `${lock},outcome="sold"`),
      metric('lockstep_sales_total', `${lock},outcome="soldOut"`),
      metric('lockstep_lock_wait_seconds_count', lock),
      metric('lockstep_lock_hold_seconds_count', lock),
      metric('lockstep_http_request_seconds_count', 'method="POST",route="/inventory/sale",status="409"'),
    ]);
  await setStock('counted', 2);
  const before = await read();

  for (let sale = 1; sale <= 3; sale += 1) await node.sell('counted');

  // A request is measured when its answer is on its way.
  const more = async () => (await read()).map((value, at) => value - (before[at] || 0));
  await expect.poll(more).toEqual([2, 1, 3, 3, 1]);
  expect(await metric('lockstep_lock_hold_seconds_sum', lock)).toBeGreaterThan(0);
  expect((await node.get('/metrics')).headers.get('content-type')).toMatch(/^text\/plain; version=0.0.4/);
});

const setStock = (sku: string, stock: number) => redis.client.set(`{inventory${sku}}:stock`, stock);
const stockOf = (sku: string) => redis.client.get(`{inventory${sku}}:stock`);

/** The value of one series on the node's `/metrics`. */
async function metric(name: string, labels: string): Promise<number> {
  const { text } = await node.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name}{${labels}}`));
  return Number(line?.split(' ').at(-1));
}
