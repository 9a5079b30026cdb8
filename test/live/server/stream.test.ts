import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { emptyView } from '../../../live/client/state.ts';
import type { LiveState, Message, StackView } from '../../../live/contract.ts';
import { createStream } from '../../../live/server/stream.ts';
import { until } from '../../services/inventory/node-under-test.ts';

/** How soon one that never reads is hung up on, in milliseconds: one that reads is not so late on a busy machine. */
const READ_LIMIT_MS = 1_000;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const view = (change: Partial<StackView> = {}): StackView => ({
  ...emptyView,
  stage: '4-ttl',
  title: 'Stage 4 · ttl',
  ...change,
});

/** A server whose every answer is the stream of a state that the test sets. */
async function serve(readLimitMs?: number) {
  const state: LiveState = { play: { is: 'ready', trouble: null }, controls: null, views: [view()] };
  const stream = createStream({ choices: [], read: () => state, ...(readLimitMs !== undefined && { readLimitMs }) });
  const responses: ServerResponse[] = [];
  const refused: boolean[] = [];
  const server = createServer((_request, response) => {
    responses.push(response);
    refused.push(!stream.follow(response));
    if (refused.at(-1)) response.writeHead(503).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    stream.end();
    server.closeAllConnections();
    server.close();
  });
  return { state, stream, responses, refused, port: (server.address() as AddressInfo).port };
}

/** What a follower has been sent so far. */
async function follow({ port }: { port: number }) {
  const response = await fetch(`http://127.0.0.1:${port}/`);
  const messages: Message[] = [];
  const reader = response.body?.getReader();
  closing.push(() => reader?.cancel().catch(() => {}));
  let text = '';
  void (async () => {
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) return;
      text += new TextDecoder().decode(value as Uint8Array);
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [line, rest] = [text.slice(0, end), text.slice(end + 2)];
        text = rest;
        if (line.startsWith('data: ')) messages.push(JSON.parse(line.slice(6)));
      }
    }
  })().catch(() => {});
  await until('everything has come', async () => messages.length > 0);
  return messages;
}

const waitFor = (messages: Message[], count: number) =>
  until(`${count} messages have come`, async () => messages.length >= count);

test('a follower is sent everything, then the members that have changed, each whole', async () => {
  const served = await serve();
  const messages = await follow(served);

  served.state.views = [view({ nodes: [{ name: 'node-1', waiting: 3, inside: ['1001'] }] })];
  served.stream.changed();
  await waitFor(messages, 2);
  served.state.play = { is: 'playing', trouble: null };
  served.stream.changed();
  await waitFor(messages, 3);

  expect(messages).toEqual([
    { type: 'all', choices: [], state: { play: { is: 'ready', trouble: null }, controls: null, views: [view()] } },
    { type: 'changed', views: [{ nodes: [{ name: 'node-1', waiting: 3, inside: ['1001'] }] }] },
    { type: 'changed', play: { is: 'playing', trouble: null }, views: [{}] },
  ]);
});

test('a view that comes is sent whole, and one that goes is null', async () => {
  const served = await serve();
  const messages = await follow(served);

  served.state.views = [view(), view({ stage: '5-owner-check' })];
  served.stream.changed();
  await waitFor(messages, 2);
  served.state.views = [view({ drill: 'rush' })];
  served.stream.changed();
  await waitFor(messages, 3);

  expect(messages.slice(1)).toEqual([
    { type: 'changed', views: [{}, view({ stage: '5-owner-check' })] },
    { type: 'changed', views: [{ drill: 'rush' }, null] },
  ]);
});

test('a thousand changes a second are merged, and the last one comes', async () => {
  const served = await serve();
  const messages = await follow(served);

  for (let sold = 1; sold <= 1_000; sold += 1) {
    served.state.views = [view({ figures: { sold, refused: 0, inDoubt: 0, lost: 0, underWay: 0, perSecond: sold } })];
    served.stream.changed();
    if (sold % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await until('the last one has come', async () => JSON.stringify(messages.at(-1)).includes('"sold":1000'));

  expect(messages.length).toBeLessThan(20);
});

test('nothing is sent when nothing has changed', async () => {
  const served = await serve();
  const messages = await follow(served);

  served.stream.changed();
  await new Promise((resolve) => setTimeout(resolve, 250));

  expect(messages).toHaveLength(1);
});

test('a follower that never reads: nothing is kept for it, its connection is ended, and the others go on', async () => {
  const served = await serve(READ_LIMIT_MS);
  const lazy = connect(served.port, '127.0.0.1');
  closing.push(() => lazy.destroy());
  lazy.on('error', () => {});
  lazy.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  lazy.pause();
  await until('it follows', async () => served.stream.count() === 1);
  const messages = await follow(served);

  let most = 0;
  for (let turn = 0; served.stream.count() === 2; turn += 1) {
    served.state.views = [view({ title: `${turn} ${'x'.repeat(1_000_000)}` })];
    served.stream.changed();
    await new Promise((resolve) => setTimeout(resolve, 20));
    most = Math.max(most, served.responses[0]?.writableLength ?? 0);
  }

  expect(most).toBeLessThan(3_000_000);
  expect(served.stream.count()).toBe(1);
  served.state.views = [view({ title: 'after it' })];
  served.stream.changed();
  // One that was sent before may still be on its way.
  await until('the last one has come', async () => JSON.stringify(messages.at(-1)).includes('after it'));
  expect(messages.at(-1)).toEqual({ type: 'changed', views: [{ title: 'after it' }] });
});

test('a follower that hangs up is forgotten; of too many the last one is refused', async () => {
  const served = await serve();
  const gone = connect(served.port, '127.0.0.1');
  gone.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await until('it follows', async () => served.stream.count() === 1);
  gone.destroy();
  await until('it is forgotten', async () => served.stream.count() === 0);

  for (let count = 0; count < 20; count += 1) await follow(served);
  const { status } = await fetch(`http://127.0.0.1:${served.port}/`);

  expect(status).toBe(503);
  expect(served.refused.filter(Boolean)).toHaveLength(1);
});
