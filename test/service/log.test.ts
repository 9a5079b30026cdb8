import { beforeAll, expect, test } from 'vitest';
import {
  expectProblem,
  sendRaw,
  startNode,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from './node-under-test.ts';

const password = 's3cret-word';
let redis: TestRedis;
let urlWithPassword: string;

beforeAll(async () => {
  redis = await startRedis();
  await redis.client.set('{inventory001}:stock', 100);
  await redis.client.config('SET', 'requirepass', password);
  urlWithPassword = redis.url.replace('//', `//:${password}@`);
});

/** A sale, what clients do wrong, and Redis away for a moment. */
async function liveThroughALot(node: TestNode) {
  await until('the node is ready', async () => (await node.get('/readyz')).status === 200);
  await node.sell('001');
  await node.sell('none');
  await node.sell('a%20b');
  await node.get('/nowhere');
  await sendRaw(node.port, 'garbage\r\n\r\n');
  await sendRaw(node.port, 'POST /inventory/sale HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{"s', '415');
  redis.freeze();
  const away = await node.sell('001');
  redis.thaw();
  expect(away.body.code).toBe('STORE_UNAVAILABLE');
  await until('the node is ready', async () => (await node.get('/readyz')).status === 200);
}

type Line = { time: number; level: number; node: string; msg: string; url?: string; status?: number; ms?: number };
const parsed = (node: TestNode) => node.lines.map((line) => JSON.parse(line) as Line);

test('log: at info JSON lines, and none for a request', async () => {
  const node = await startNode(urlWithPassword);

  await liveThroughALot(node);
  node.signal('SIGTERM');
  await node.part.ended;

  expect(parsed(node).map(({ msg }) => msg)).toEqual(['listening', 'stopping', 'stopped']);
  expect(new Set(parsed(node).map((line) => line.node))).toEqual(new Set([node.name]));
});

test('log: at debug one line for a request, whatever its answer', async () => {
  const node = await startNode(urlWithPassword, { LOG_LEVEL: 'debug' });

  await liveThroughALot(node);
  node.signal('SIGTERM');
  await node.part.ended;

  const requests = parsed(node).filter(({ msg }) => msg === 'request');
  const ofSales = requests.filter(({ url }) => url?.startsWith('/inventory/sale'));
  expect(ofSales.map(({ status }) => status)).toEqual([200, 404, 400, 415, 503]);
  expect(requests.filter(({ url }) => url === '/nowhere')).toMatchObject([{ status: 404, ms: expect.any(Number) }]);
  expect(
    parsed(node)
      .filter(({ msg }) => msg !== 'request')
      .map(({ msg }) => msg),
  ).toEqual(['listening', 'stopping', 'stopped']);
});

test('log: silent prints nothing', async () => {
  const node = await startNode(urlWithPassword, { LOG_LEVEL: 'silent' });
  await node.sell('none');
  node.signal('SIGTERM');
  await node.part.ended;
  expect(node.lines).toEqual([]);
});

test('log: no password in it, not even when Redis refuses it, and the sale is a 503', async () => {
  const wrong = await startNode(urlWithPassword.replace(password, 'wr0ng-word'), { LOG_LEVEL: 'trace' });
  const none = await startNode(redis.url, { LOG_LEVEL: 'trace' });

  for (const node of [wrong, none]) {
    expectProblem(await node.sell('001'), 'STORE_UNAVAILABLE');
    expectProblem(await node.get('/readyz'), 'STORE_UNAVAILABLE');
    expect(node.lines.join('\n')).not.toMatch(/s3cret-word|wr0ng-word|\n\s+at /);
  }
});
