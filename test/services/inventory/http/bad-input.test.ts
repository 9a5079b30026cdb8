import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { backendOf, multiLockOf, replicasOf, strategies } from '../../../../locks/index.ts';
import { type ProblemCode, problems } from '../../../../services/inventory/problem.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { ask, expectProblem, jsonBody, sendRaw, startNode, type TestNode } from '../node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url);
  await redis.client.set('{inventory001}:stock', 1000);
});

// Nothing that a client sends ends the process, sells anything, or is taken for a bug.
afterEach(async () => {
  expect(await node.state()).toMatchObject({ pid: node.part.pid, inFlight: 0 });
  expect(await redis.client.get('{inventory001}:stock')).toBe('1000');
  expect(node.lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
});

const isJson = 'Content-Type: application/json\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
const post = (headers: string, rest: string, path = '/inventory/sale') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n${rest}`;
const postBody = (body: string, headers = isJson) => post(`${headers}Content-Length: ${body.length}\r\n`, body);

describe('public listener: bad input gets a problem document', () => {
  test.each<[string, string, ProblemCode]>([
    ['a body that is half of JSON', postBody('{"sku":'), 'BAD_REQUEST'],
    ['an unknown member', postBody('{"sku":"001","price":1}'), 'BAD_REQUEST'],
    ['a member named __proto__', postBody('{"__proto__":{"sku":"001"}}'), 'BAD_REQUEST'],
    ['a sku with braces', postBody('{"sku":"a}:lock:{b"}'), 'BAD_REQUEST'],
    ['a sku given twice', get('/inventory/sale?sku=001&sku=002'), 'BAD_REQUEST'],
    ['an unknown encoding', postBody('{"sku":"001"}', `${isJson}Content-Encoding: x\r\n`), 'UNSUPPORTED_MEDIA_TYPE'],
    ['a body over 1 kB', postBody(`{"sku":"${'a'.repeat(1024)}"}`), 'BODY_TOO_LARGE'],
    ['a body in chunks that are none', post(`${isJson}Transfer-Encoding: chunked\r\n`, 'zz\r\n'), 'BAD_REQUEST'],
    ['a path of the lab', get('/state'), 'NOT_FOUND'],
    ['oversized headers', `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    ['garbage', 'garbage\r\n\r\n', 'BAD_REQUEST'],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 'BAD_REQUEST'],
  ])('%s', async (_what, request, code) => {
    const answer = await sendRaw(node.port, request);

    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${problems[code].status} `));
    expect(head).toMatch(/^content-type: application\/problem\+json/im);
    const { requestId: _id, ...problem } = JSON.parse(body);
    expect(problem).toStrictEqual({ ...problems[code], code, detail: expect.any(String), definite: true });
    // Neither a stack trace nor a path of the server's disk.
    expect(answer).not.toMatch(/node_modules|\.ts\b|\n\s*at |\/work/);
  });

  test.each([
    ['/inventory/sale', ['HEAD', 'OPTIONS', 'TRACE', 'DELETE', 'PUT', 'PATCH'], 'GET, POST'],
    ['/inventory', ['OPTIONS', 'TRACE', 'DELETE', 'PUT', 'PATCH', 'POST'], 'GET'],
  ])('%s refuses other methods and says which it takes', async (path, methods, allowed) => {
    for (const method of methods) {
      const answer = await sendRaw(node.port, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer, method).toMatch(/^HTTP\/1.1 405 /);
      expect(answer, method).toContain(`\r\nAllow: ${allowed}\r\n`);
      if (method !== 'HEAD') expect(answer, method).toContain('"code":"METHOD_NOT_ALLOWED","definite":true');
    }
  });

  const locks = Object.keys(strategies).filter((name) => backendOf(name) === 'redis' && replicasOf(name) === 0);
  test.each(locks)('%s: a stock that is no whole number is no bug, and is left as it is', async (lock) => {
    if (lock in ((await node.lab('GET', '/redis')).body.lacks as object)) return;
    await node.lab('PUT', '/lock-version', { version: lock });
    const keyOf = (sku: string) => `{inventory${sku}}:stock`;
    const sellBasket = (sku: string) =>
      ask(`${node.url}/inventory/sale`, { method: 'POST', ...jsonBody({ skus: ['001', sku] }) });

    for (const stock of ['abc', '1.5', '', '1e3', '007', '9007199254740993', '9223372036854775808']) {
      await redis.client.set(keyOf('odd'), stock);
      expectProblem(await node.sell('odd'), 'DATA_UNREADABLE');
      expect(await redis.client.get(keyOf('odd'))).toBe(stock);
    }
    await redis.client.hset(keyOf('hash'), 'units', 5);
    const looks = ['odd', 'hash'].map((sku) => node.get(`/inventory?sku=${sku}`));
    const baskets = multiLockOf(lock) ? ['odd', 'hash'].map(sellBasket) : [];
    for (const answer of await Promise.all([...looks, ...baskets, node.sell('hash')]))
      expectProblem(answer, 'DATA_UNREADABLE');
    await redis.client.set(keyOf('owed'), -5);
    expect((await node.get('/inventory?sku=owed')).body).toEqual({ sku: 'owed', remaining: -5 });
    expectProblem(await node.sell('owed'), 'OUT_OF_STOCK');
    expect(await redis.client.get(keyOf('owed'))).toBe('-5');
    await redis.client.del(['odd', 'hash', 'owed'].map(keyOf));
  });

  test('HEAD answers like GET, without a body, where GET changes nothing', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/inventory']) {
      const answer = await ask(`${node.url}${path}`, { method: 'HEAD' });
      expect({ path, status: answer.status, text: answer.text }).toEqual({ path, status: 200, text: '' });
    }
  });
});

describe('lab listener: bad input gets a problem document', () => {
  test.each<[string, string, string, ProblemCode, type?: string]>([
    ['PUT', '/stock', '{"stock":-1}', 'BAD_REQUEST'],
    ['PUT', '/lock-version', '{"version":"8-auto"}', 'BAD_REQUEST'],
    ['PUT', '/next-sale', `{"other":"${'a'.repeat(1024)}"}`, 'BODY_TOO_LARGE'],
    ['POST', '/stock', '{"stock":5}', 'METHOD_NOT_ALLOWED'],
    ['GET', '/inventory/sale', '', 'NOT_FOUND'],
    // As a web page of another origin could send it.
    ['PUT', '/stock', '{"stock":5}', 'UNSUPPORTED_MEDIA_TYPE', 'Content-Type: text/plain\r\n'],
  ])('%s %s %s: %s', async (method, path, body, code, type = isJson) => {
    const { standstills: _, ...before } = await node.state();

    const headers = body === '' ? '' : `${type}Content-Length: ${body.length}\r\n`;
    const answer = await sendRaw(
      node.labPort,
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n${body}`,
    );

    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${problems[code].status} `));
    expect(answer).toContain(`"code":"${code}"`);
    expect(answer).not.toMatch(/node_modules|\.ts\b|\n\s*at |\/work/);
    expect(await node.state()).toMatchObject(before);
  });
});
