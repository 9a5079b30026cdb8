import { beforeAll, expect, test } from 'vitest';
import { ask, sendRaw, startNode, startRedis, type TestNode, type TestRedis } from '../node-under-test.ts';

const password = 's3cret-word';
let redis: TestRedis;
let urlWithPassword: string;
/** It logs each sale. */
let own: TestNode;

beforeAll(async () => {
  redis = await startRedis();
  await redis.client.set('{inventory001}:stock', 100);
  await redis.client.config('SET', 'requirepass', password);
  urlWithPassword = redis.url.replace('//', `//:${password}@`);
  own = await startNode(urlWithPassword, { LOG_LEVEL: 'debug' });
});

type Line = { msg: string; node: string; url?: string; status?: number; ms?: number };
const parsed = (node: TestNode) => node.lines.map((line) => JSON.parse(line) as Line);

test('log: JSON lines, one for each sale at debug, one for each request at trace, and none of them at info; no password', async () => {
  const levels = ['info', 'debug', 'trace'].map((LOG_LEVEL) => startNode(urlWithPassword, { LOG_LEVEL }));
  const [atInfo, atDebug, atTrace] = (await Promise.all(levels)) as [TestNode, TestNode, TestNode];
  for (const node of [atInfo, atDebug, atTrace]) {
    for (const sku of ['001', 'none', 'a%20b']) await node.sell(sku);
    await node.get('/nowhere');
    await sendRaw(node.port, 'garbage\r\n\r\n');
    node.signal('SIGTERM');
    await node.part.ended;
  }

  const frame = ['listening', 'stopping', 'stopped'];
  expect(parsed(atInfo).map(({ msg, node }) => ({ msg, node }))).toEqual(
    frame.map((msg) => ({ msg, node: atInfo.name })),
  );
  const sale = { msg: 'sale', port: atDebug.port, lock: '8-auto-renew', ms: expect.any(Number) };
  expect(parsed(atDebug).filter(({ msg }) => !frame.includes(msg))).toMatchObject([
    { ...sale, sku: '001', outcome: 'sold' },
    { ...sale, sku: 'none', outcome: 'NOT_FOUND' },
  ]);
  const requests = parsed(atTrace).filter(({ msg }) => msg === 'request');
  const ofSales = requests.filter(({ url }) => url?.startsWith('/inventory/sale'));
  expect(ofSales.map(({ status }) => status)).toEqual([200, 404, 400]);
  expect(requests.filter(({ url }) => url === '/nowhere')).toMatchObject([{ status: 404, ms: expect.any(Number) }]);
  for (const { lines } of [atInfo, atDebug, atTrace]) expect(lines.join()).not.toContain(password);
});

test.each([
  ['that of the client', 'client-1', /^client-1$/],
  ['one of its own, where none came', undefined, /^[0-9a-f-]{36}$/],
  ['one of its own, where what came has other signs', 'a"b', /^[0-9a-f-]{36}$/],
])(
  'request id: %s is in the answer, the problem document, the log and the history',
  async (_title, given, expected) => {
    await own.lab('DELETE', '/history');
    const headers: Record<string, string> = given === undefined ? {} : { 'X-Request-Id': given };

    const sold = await ask(`${own.url}/inventory/sale`, { method: 'POST', headers });
    const refused = await ask(`${own.url}/inventory/sale?sku=none`, { method: 'POST', headers });

    const ids = [sold, refused].map((answer) => answer.headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(expected);
    expect(refused.body['requestId']).toBe(ids[1]);
    const ofSales = parsed(own).filter(({ msg }) => msg === 'sale') as (Line & { requestId: string })[];
    expect(ofSales.slice(-2).map(({ requestId }) => requestId)).toEqual(ids);
    const waiting = (await own.events()).filter(({ type }) => type === 'waiting');
    expect(waiting.map(({ requestId }) => requestId)).toEqual(ids);
  },
);
