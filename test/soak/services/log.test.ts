import { beforeAll, expect, test } from 'vitest';
import {
  expectProblem,
  sendRaw,
  startNode,
  startNodeAlone,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';

const password = 's3cret-word';
let redis: TestRedis;
let urlWithPassword: string;

beforeAll(async () => {
  redis = await startRedis();
  await redis.client.set('{inventory001}:stock', 100);
  await redis.client.config('SET', 'requirepass', password);
  urlWithPassword = redis.url.replace('//', `//:${password}@`);
});

/** A sale, what clients do wrong, and Redis away for a moment; then the nodes end. */
async function liveThroughALot(...nodes: TestNode[]) {
  const areReady = async () =>
    (await Promise.all(nodes.map((node) => node.get('/readyz')))).every(({ status }) => status === 200);
  for (const node of nodes) {
    await node.sell('001');
    await node.sell('none');
    await node.sell('a%20b');
    await node.get('/nowhere');
    await sendRaw(node.port, 'garbage\r\n\r\n');
    await sendRaw(node.port, 'POST /inventory/sale HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{"s', '415');
  }
  redis.freeze();
  const away = await Promise.all(nodes.map((node) => node.sell('001')));
  await redis.comeBack();
  for (const answer of away) expectProblem(answer, 'STORE_UNAVAILABLE');
  await until('the nodes are ready', areReady);
  for (const node of nodes) node.signal('SIGTERM');
  for (const node of nodes) await node.part.ended;
}

type Line = { time: number; level: number; node: string; msg: string; url?: string; status?: number; ms?: number };
const parsed = (node: TestNode) => node.lines.map((line) => JSON.parse(line) as Line);

test('log: JSON lines, one for each request at debug, and none for a request at info', async () => {
  const [atInfo, atDebug] = await Promise.all([
    startNode(urlWithPassword),
    startNode(urlWithPassword, { LOG_LEVEL: 'debug' }),
  ]);

  await liveThroughALot(atInfo, atDebug);

  expect(parsed(atInfo).map(({ msg, node }) => ({ msg, node }))).toEqual(
    ['listening', 'stopping', 'stopped'].map((msg) => ({ msg, node: atInfo.name })),
  );
  const requests = parsed(atDebug).filter(({ msg }) => msg === 'request');
  const ofSales = requests.filter(({ url }) => url?.startsWith('/inventory/sale'));
  expect(ofSales.map(({ status }) => status)).toEqual([200, 404, 400, 415, 503]);
  expect(requests.filter(({ url }) => url === '/nowhere')).toMatchObject([{ status: 404, ms: expect.any(Number) }]);
  const others = parsed(atDebug).filter(({ msg }) => msg !== 'request');
  expect(others.map(({ msg }) => msg)).toEqual(['listening', 'stopping', 'stopped']);
  for (const { lines } of [atInfo, atDebug]) expect(lines.join()).not.toContain(password);
});

test('log: silent prints nothing', async () => {
  const node = await startNode(urlWithPassword, { LOG_LEVEL: 'silent' });
  await node.sell('none');
  node.signal('SIGTERM');
  await node.part.ended;
  expect(node.lines).toEqual([]);
});

test('log: no password in it, not even when Redis refuses it, and the sale is a 503', async () => {
  const wrong = await startNodeAlone(urlWithPassword.replace(password, 'wr0ng-word'), { LOG_LEVEL: 'trace' });
  const none = await startNodeAlone(redis.url, { LOG_LEVEL: 'trace' });

  for (const node of [wrong, none]) {
    expectProblem(await node.sell('001'), 'STORE_UNAVAILABLE');
    expectProblem(await node.get('/readyz'), 'STORE_UNAVAILABLE');
    expect(node.lines.join('\n')).not.toMatch(/s3cret-word|wr0ng-word|\n\s+at /);
  }
});
