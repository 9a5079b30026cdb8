import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createChain } from '../../../../services/inventory/chain.ts';
import { addRoute, answerProblem, giveRequestId } from '../../../../services/inventory/http/answer.ts';
import { arrivalLimits, createHttpServer } from '../../../../services/inventory/http/http-server.ts';
import { listen } from '../../../listen.ts';

const head = (length: number) =>
  `POST /sale HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const sale = (sku: string) => `${head(`{"sku":"${sku}"}`.length)}{"sku":"${sku}"}`;
const half = sale('half').slice(0, -2);

/** A listener with one call, which sells when it is resumed. Nothing is late on it unless the test says so. */
async function serve() {
  const app = express();
  const sales = Object.assign(new EventEmitter(), { skus: [] as unknown[] });
  app.use(giveRequestId);
  addRoute(app, '/sale', {
    get: () => ({ outcome: 'shown' }),
    post: ({ body: { sku } }) =>
      new Promise((resolve) => {
        sales.skus.push(sku);
        sales.emit(sku, () => resolve({ outcome: 'sold' }));
      }),
  });
  app.use(answerProblem(pino({ level: 'silent' })));
  const server = createHttpServer(app, 600_000, createChain<ServerResponse>());
  const port = await listen(server);

  /** Sends the text on a connection of its own, and resolves when so many requests have come. */
  async function send(sent: string, requests: number) {
    let came = 0;
    const hasCome = new Promise<void>((resolve) => {
      if (requests === 0) resolve();
      server.on('request', () => {
        came += 1;
        if (came === requests) resolve();
      });
    });
    const connected = once(server, 'connection');
    const client = connect(port, '127.0.0.1');
    const answers = readAll(client);
    client.write(sent);
    const [socket] = (await connected) as [Socket];
    await hasCome;
    /** What Node emits when the connection has sent too little for too long. */
    const isLate = () =>
      server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    return { client, answers, isLate };
  }

  return { send, sales };
}

/** Resolves with all that has come when the other side closes, in order or not. */
async function readAll(client: Socket) {
  let came = '';
  client.on('data', (chunk) => (came += chunk)).on('error', () => {});
  await once(client, 'close');
  return came;
}

const late = /^HTTP\/1\.1 408 [\s\S]*\r\nConnection: close\r\n[\s\S]*"code":"REQUEST_TIMEOUT","definite":true/;

test.each([
  ['half a header', 'POST /sale HTTP/1.1\r\nHost: x\r\n', 0],
  ['half a body', half, 1],
])('http server: %s that comes too slowly is answered 408, and the connection ends', async (_what, part, requests) => {
  const { send, sales } = await serve();
  const { answers, isLate } = await send(part, requests);
  isLate();

  expect(await answers).toMatch(late);
  expect(sales.skus).toEqual([]);
});

test('http server: half a body behind a sale is answered behind it, and what comes of the body then sells nothing', async () => {
  const { send, sales } = await serve();
  const begun = once(sales, 'first');
  const { client, answers, isLate } = await send(sale('first') + half, 2);
  const [sell] = await begun;
  isLate();
  client.write('"}');
  // What is sent on another connection now comes after that.
  const next = once(sales, 'other');
  const other = await send(sale('other'), 1);
  await next;
  sell();

  expect((await answers).split(/(?=HTTP\/1\.1 )/)).toEqual([
    expect.stringMatching(/^HTTP\/1\.1 200 [\s\S]*"outcome":"sold"/),
    expect.stringMatching(late),
  ]);
  expect(sales.skus).toEqual(['first', 'other']);
  other.client.destroy();
});

test('http server: what is answered before all of its body has come gets no second answer', async () => {
  const { send } = await serve();
  const { client, answers, isLate } = await send(half.replace('POST', 'GET'), 1);
  await once(client, 'data');
  isLate();

  expect(await answers).toMatch(/^HTTP\/1\.1 200 (?![\s\S]*HTTP)/);
});

test('http server: what can’t be read behind a sale that is whole is not answered in its place', async () => {
  const { send } = await serve();
  const { answers } = await send(`${sale('first')}garbage\r\n\r\n`, 1);

  expect(await answers).toBe('');
});

test('http server: a sale under way is not answered in its place when its connection sends what is late', async () => {
  const { send, sales } = await serve();
  const begun = once(sales, 'first');
  const { answers, isLate } = await send(`${sale('first')}POST /sale`, 1);
  await begun;
  isLate();

  expect(await answers).toBe('');
});

test.each([
  [1_000, 100],
  [1_005, 101],
  [5_000, 500],
  [300_000, 1_000],
])('http server: that a request is late after %d ms is noticed within %d ms more', (limitMs, noticeMs) => {
  const limits = { requestTimeout: limitMs, connectionsCheckingInterval: noticeMs };
  expect(arrivalLimits(limitMs)).toEqual(limits);
  // Node takes no notice of a header that is as late as the limit, but of one that takes a minute.
  expect(createHttpServer(express(), limitMs, createChain())).toMatchObject({
    ...limits,
    headersTimeout: Math.min(limitMs, 60_000),
  });
});
