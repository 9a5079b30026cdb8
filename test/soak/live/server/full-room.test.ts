import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { emptyView } from '../../../../live/client/state.ts';
import type { LiveState } from '../../../../live/contract.ts';
import { readQuestions } from '../../../../live/questions.ts';
import { createFollowerApp } from '../../../../live/server/follower.ts';
import { createRoom } from '../../../../live/server/room.ts';
import { shareRoom } from '../../../../live/server/share.ts';
import { createStream } from '../../../../live/server/stream.ts';
import { ask, type Following, follow, problemOf, roomIn } from '../../../live/server/listener-under-test.ts';
import { createNews } from '../../../live/server/news.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const state: LiveState = { play: { is: 'ready', trouble: null }, controls: null, views: [] };
const cell = { stage: '4-ttl', drill: 'slow-holder' };

async function serve() {
  const bugs: unknown[] = [];
  const news = createNews();
  let shared: Awaited<ReturnType<typeof shareRoom>> | undefined;
  const onChange = () => {
    shared?.changed();
    news.tell();
  };
  const room = createRoom({ questions: readQuestions(), read: () => state, onChange });
  const onBug = (error: unknown) => bugs.push(error);
  shared = await shareRoom({
    files: {},
    choices: [],
    read: () => state,
    room,
    port: 0,
    onBug,
    addresses: ['127.0.0.1'],
  });
  closing.push(shared.close);
  const port = Number(new URL(shared.addresses[0] ?? '').port);
  const { token } = shared;
  const followed = async () => {
    const following = await follow(port, `/stream?token=${token}`, news);
    closing.push(following.hangUp);
    return following;
  };
  const vote = (id: string, answer: number) =>
    ask(port, '/vote', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'follower-id': id },
      body: JSON.stringify({ question: 1, answer }),
    });
  return { room, bugs, news, port, token, followed, vote };
}

test('200 followers vote at once: every vote counts, and all of them see the bars', async () => {
  const served = await serve();
  served.room.order({ do: 'ask', ...cell });
  const room = await Promise.all(Array.from({ length: 200 }, served.followed));
  expect(served.room.forPresenter().followers).toBe(200);
  expect(new Set(room.map(({ id }) => id)).size).toBe(200);

  const answers = await Promise.all(
    room.map(({ id }, place) => served.vote(id, [0, 1, 1, 2, 3, 3, 3, 3][place % 8] ?? 0)),
  );

  expect(answers.filter(({ status }) => status !== 204)).toEqual([]);
  served.room.order({ do: 'reveal' });
  const question = ({ messages }: Following) => roomIn(messages)?.question;
  await served.news.until(() => room.every((following) => question(following)?.is === 'revealed'));
  expect(room.map((following) => question(following)?.answers.map(({ votes }) => votes))).toEqual(
    room.map(() => [25, 50, 25, 100]),
  );
  expect(served.bugs).toEqual([]);
});

test('250 may follow; the next one is told that the room is full, and gets in when one has left', async () => {
  const { room, news, port, token, followed } = await serve();
  const all = await Promise.all(Array.from({ length: 250 }, followed));

  expect(problemOf(await ask(port, `/stream?token=${token}`))).toEqual([503, 'TOO_MANY_FOLLOW']);
  all[0]?.hangUp();
  await news.until(() => room.forPresenter().followers === 249);
  expect((await followed()).id).not.toBe('');
});

test('a flood of votes of one follower: two a second count, the others are refused, the room votes on', async () => {
  const { room, followed, vote } = await serve();
  room.order({ do: 'ask', ...cell });
  const [flooder, other] = [await followed(), await followed()];

  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 500 }, (_, count) => vote(flooder.id, count % 4)));
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);

  const taken = answers.filter(({ status }) => status === 204);
  expect(taken.length).toBeGreaterThanOrEqual(2);
  expect(taken.length).toBeLessThanOrEqual(2 * (seconds + 1));
  expect(answers.filter(({ status }) => status === 429).length).toBe(500 - taken.length);
  expect((await vote(other.id, 0)).status).toBe(204);
  expect(room.forPresenter().question?.voted).toBe(2);
});

test('tokens are guessed: 20 a second are looked at; those who follow already vote on', async () => {
  const { room, port, token, followed, vote } = await serve();
  room.order({ do: 'ask', ...cell });
  const { id } = await followed();

  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, count) => ask(port, `/stream?token=guess-${count}`)),
  );
  const seconds = (performance.now() - startedAt) / 1_000;

  const looked = answers.filter(({ status }) => status === 403).length;
  expect(looked).toBeGreaterThanOrEqual(20);
  expect(looked).toBeLessThanOrEqual(20 + Math.ceil(seconds * 20));
  expect(answers.filter(({ status }) => status === 429).length).toBe(200 - looked);
  expect((await vote(id, 0)).status).toBe(204);
  while ((await ask(port, `/stream?token=${token}`)).status !== 200) await sleep(20);
});

test('20 that never read: nothing is kept for them, they are hung up on, and the others go on', async () => {
  const seen: LiveState = { ...state };
  const news = createNews();
  const room = createRoom({ questions: {}, read: () => seen, onChange: news.tell });
  const stream = createStream({ choices: [], read: () => seen, mostFollowers: 250, readLimitMs: 1_000 });
  const responses: ServerResponse[] = [];
  const app = createFollowerApp({ files: {}, token: 'abc', stream, room, onBug: () => {} });
  const server = createServer((request, response) => {
    responses.push(response);
    app(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    stream.end();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  for (let count = 0; count < 20; count += 1) {
    const lazy = connect(port, '127.0.0.1').on('error', () => {});
    closing.push(() => lazy.destroy());
    lazy.write(`GET /stream?token=abc HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    lazy.pause();
  }
  await news.until(() => room.forPresenter().followers === 20);
  const reader = await follow(port, '/stream?token=abc', news);
  closing.push(reader.hangUp);
  const show = (title: string) => {
    seen.views = [{ ...emptyView, title }];
    stream.changed();
  };

  let most = 0;
  for (let turn = 0; stream.count() > 1; turn += 1) {
    show(`${turn} ${'x'.repeat(1_000_000)}`);
    await sleep(20);
    most = Math.max(most, ...responses.map(({ writableLength }) => writableLength));
  }

  expect(most).toBeLessThan(3_000_000);
  expect(room.forPresenter().followers).toBe(1);
  show('after them');
  await news.until(() => JSON.stringify(reader.messages.at(-1)).includes('after them'));
});
