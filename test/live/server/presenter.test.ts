import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Order } from '../../../live/contract.ts';
import { createPresenterApp } from '../../../live/server/presenter.ts';
import { Refusal } from '../../../live/server/refusal.ts';

const TOKEN = 'the-token-of-this-test';
const files = { '/': { type: 'text/html; charset=utf-8', text: '<!doctype html><title>page</title>' } };
const orders: Order[] = [];
const bugs: unknown[] = [];
let failure: Error | undefined;
let follows = true;
const server = createServer(
  createPresenterApp({
    files,
    token: TOKEN,
    stream: {
      follow(response) {
        if (follows) response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('data: {}\n\n');
        return follows;
      },
    },
    async order(order) {
      if (failure) throw failure;
      orders.push(order);
    },
    onBug: (error) => bugs.push(error),
  }),
);
let port: number;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());
beforeEach(() => {
  orders.length = 0;
  bugs.length = 0;
  failure = undefined;
  follows = true;
});

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Asks with any headers, Host and Origin too, which fetch does not let one set. */
function ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      });
      asked.on('error', reject);
      asked.end(body);
    },
  );
}

const json = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
const send = (order: unknown, headers: Record<string, string> = json) =>
  ask('/order', { method: 'POST', headers, body: typeof order === 'string' ? order : JSON.stringify(order) });
const problemOf = ({ status, text }: { status: number | undefined; text: string }) => [status, JSON.parse(text).code];

describe('the page', () => {
  test('is served with a policy that allows nothing but itself', async () => {
    const { status, headers, text } = await ask('/');

    expect([status, text]).toEqual([200, files['/'].text]);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  test.each([
    ['a page of another origin', { origin: 'http://evil.example' }, 'ORIGIN_REFUSED'],
    ['a page without an origin, as of a file', { origin: 'null' }, 'ORIGIN_REFUSED'],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 'ORIGIN_REFUSED'],
    ['another name for this machine (DNS rebinding)', { host: 'evil.example' }, 'HOST_REFUSED'],
  ])('%s is not answered, with the token or without', async (_who, headers, code) => {
    for (const [path, asked] of [
      ['/', {}],
      [`/stream?token=${TOKEN}`, {}],
      ['/order', { method: 'POST', body: '{"do":"stop"}' }],
    ] as const) {
      expect(problemOf(await ask(path, { ...asked, headers: { ...json, ...headers } }))).toEqual([403, code]);
    }
    expect(orders).toEqual([]);
  });

  test('its own origin is answered', async () => {
    expect((await send({ do: 'stop' }, { ...json, origin: `http://127.0.0.1:${port}` })).status).toBe(204);
  });
});

describe('the token', () => {
  test.each([
    ['none', {}],
    ['another one', { authorization: 'Bearer another' }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['the beginning of it', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
  ])('%s: neither the stream nor an order', async (_which, headers) => {
    const { 'content-type': type } = json;

    expect(problemOf(await ask('/stream', { headers }))).toEqual([403, 'TOKEN_REFUSED']);
    expect(problemOf(await send({ do: 'stop' }, { 'content-type': type, ...headers }))).toEqual([403, 'TOKEN_REFUSED']);
    expect(orders).toEqual([]);
  });

  test('in the address it opens the stream, and carries out no order', async () => {
    expect((await ask(`/stream?token=${TOKEN}`)).text).toBe('data: {}\n\n');
    const { 'content-type': type } = json;
    const asked = { method: 'POST', headers: { 'content-type': type }, body: '{"do":"stop"}' };

    expect(problemOf(await ask(`/order?token=${TOKEN}`, asked))).toEqual([403, 'TOKEN_REFUSED']);
  });

  test('too many windows: the next one is told', async () => {
    follows = false;

    expect(problemOf(await ask(`/stream?token=${TOKEN}`))).toEqual([503, 'TOO_MANY_FOLLOW']);
  });
});

describe('an order', () => {
  test.each([
    { do: 'play', stage: '4-ttl', drill: 'slow-holder', isStepwise: true },
    { do: 'play', stage: '4-ttl', drill: 'slow-holder', isStepwise: false, against: '3-spin' },
    { do: 'next' },
    { do: 'run-on' },
    { do: 'stop' },
    { do: 'free', stage: '8-auto-renew' },
    { do: 'act', act: 'kill', at: 'node-1' },
    { do: 'act', act: 'rush', count: 200 },
    { do: 'undo' },
  ])('%j is carried out', async (order) => {
    expect((await send(order)).status).toBe(204);
    expect(orders).toEqual([order]);
  });

  test.each<[string, unknown, Record<string, string>, number, string]>([
    ['of a kind that there is not', { do: 'format-disk' }, json, 400, 'BAD_REQUEST'],
    ['with a member too many', { do: 'stop', now: true }, json, 400, 'BAD_REQUEST'],
    ['without its stage', { do: 'play', drill: 'rush', isStepwise: false }, json, 400, 'BAD_REQUEST'],
    [
      'with a very long name',
      { do: 'play', stage: 'x'.repeat(61), drill: 'rush', isStepwise: false },
      json,
      400,
      'BAD_REQUEST',
    ],
    ['to do what there is not', { do: 'act', act: 'format-disk', at: 'redis' }, json, 400, 'BAD_REQUEST'],
    ['to sell too often', { do: 'act', act: 'rush', count: 1_000_000 }, json, 400, 'BAD_REQUEST'],
    ['that is no JSON', '{', json, 400, 'BAD_REQUEST'],
    [
      'that is a form',
      'do=stop',
      { ...json, 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['that is text', '{"do":"stop"}', { ...json, 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['that is too large', { do: 'stop', now: 'x'.repeat(2_000) }, json, 413, 'BAD_REQUEST'],
  ])('%s is refused', async (_which, order, headers, status, code) => {
    expect(problemOf(await send(order, headers))).toEqual([status, code]);
    expect(orders).toEqual([]);
    expect(bugs).toEqual([]);
  });

  test('that does not fit what goes on is answered with the reason', async () => {
    failure = new Refusal(409, 'BUSY', 'Another drill is being played: stop it first.');

    expect(JSON.parse((await send({ do: 'next' })).text)).toEqual({
      status: 409,
      code: 'BUSY',
      detail: 'Another drill is being played: stop it first.',
    });
  });

  test('a bug is told to the terminal, and not to the page', async () => {
    failure = new Error('secret');

    const { status, text } = await send({ do: 'next' });

    expect(status).toBe(500);
    expect(text).not.toContain('secret');
    expect(bugs).toEqual([failure]);
  });
});

test.each([
  ['GET', '/order'],
  ['PUT', '/order'],
  ['POST', '/stream'],
  ['GET', '/../package.json'],
  ['GET', '/page.html'],
])('%s %s: there is nothing', async (method, path) => {
  expect(problemOf(await ask(path, { method, headers: json }))).toEqual([404, 'NOT_FOUND']);
});
