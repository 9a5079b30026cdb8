import { beforeAll, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { startNode, type TestNode } from '../node-under-test.ts';
import { newKey } from '../orders/keyed.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url);
});

/** Node's fetch sends what it is given; `ask` reads JSON. */
async function sell(sku: string, accept: string, method = 'POST', headers: Record<string, string> = {}) {
  const answer = await fetch(`${node.url}/inventory/sale?sku=${sku}`, { method, headers: { accept, ...headers } });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text(), answer };
}
const setStock = (sku: string, stock: number) => redis.client.set(`{inventory${sku}}:stock`, stock);
const soldOut = () => `商品卖完了,o(╥﹏╥)o 服务端口号: ${node.port}\n`;

test.each(['POST', 'GET'])('%s with Accept: text/plain answers in the words of the course', async (method) => {
  await setStock('words', 1);

  const sold = await sell('words', 'text/plain', method);
  const refused = await sell('words', 'text/plain', method);

  expect(sold).toMatchObject({
    status: 200,
    type: 'text/plain; charset=utf-8',
    text: `成功卖出一个商品,库存剩余: 0 服务端口号: ${node.port}\n`,
  });
  expect(refused).toMatchObject({ status: 409, type: 'text/plain; charset=utf-8', text: soldOut() });
  expect(refused.answer.headers.get('x-request-id')).toMatch(/./);
});

test('a basket is a line of its own, and any other problem is its detail', async () => {
  await node.lab('PUT', '/lock-version', { version: 'multi' });
  await setStock('one', 3);
  await setStock('two', 8);
  const body = (skus: string[]) => ({ method: 'POST', body: JSON.stringify({ skus }) });
  const headers = { accept: 'text/plain', 'content-type': 'application/json' };

  const basket = await fetch(`${node.url}/inventory/sale`, { ...body(['one', 'two']), headers });
  const unread = await fetch(`${node.url}/inventory/sale`, { method: 'POST', body: '{', headers });

  expect(await basket.text()).toBe(`成功卖出 2 个商品,库存剩余: one 2, two 7 服务端口号: ${node.port}\n`);
  expect([unread.status, unread.headers.get('content-type')]).toEqual([400, 'text/plain; charset=utf-8']);
  expect(await sell('none', 'text/plain')).toMatchObject({ status: 404, text: 'There is no sku none.\n' });
  await node.lab('PUT', '/lock-version', { version: 8 });
});

test.each<[string, string]>([
  ['*/*', 'application/json'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json'],
  ['text/plain;q=0.5, application/json;q=0.4', 'text/plain'],
  ['text/plain;q=0.4, application/json', 'application/json'],
  ['text/plain;q=0', 'application/json'],
  ['text/*', 'text/plain'],
  ['image/png', 'application/json'],
])('Accept: %s is answered as %s', async (accept, type) => {
  await setStock('accept', 1);

  expect((await sell('accept', accept)).type).toBe(`${type}; charset=utf-8`);
});

test('what is kept for a key is JSON, and each repeat gets the form that it asks for', async () => {
  await setStock('keyed', 1);
  const own = await startNode(redis.url, { IDEMPOTENCY: 'in-process' });
  const key = newKey();
  const again = async (accept: string) => {
    const headers = { accept, 'idempotency-key': key };
    return (await fetch(`${own.url}/inventory/sale?sku=keyed`, { method: 'POST', headers })).text();
  };

  const first = await again('text/plain');

  expect(first).toBe(`成功卖出一个商品,库存剩余: 0 服务端口号: ${own.port}\n`);
  expect(JSON.parse(await again('application/json'))).toMatchObject({ outcome: 'sold', remaining: 0 });
  expect(await again('text/plain')).toBe(first);
});
