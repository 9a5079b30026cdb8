import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { hostname } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { emptyView } from '../../../live/client/state.ts';
import { type LiveState, type Order, orderSchema, type StackView } from '../../../live/contract.ts';
import { type PuzzleOrder, puzzleOrderSchema } from '../../../live/puzzle-contract.ts';
import { readQuestions } from '../../../live/questions.ts';
import { type RoomOrder, roomOrderSchema } from '../../../live/room-contract.ts';
import { createFollowerApp } from '../../../live/server/follower.ts';
import { createPresenterApp } from '../../../live/server/presenter.ts';
import { createRoom } from '../../../live/server/room.ts';
import { shareRoom } from '../../../live/server/share.ts';
import { createStream } from '../../../live/server/stream.ts';
import { until } from '../../services/inventory/node-under-test.ts';
import { type Asked, ask, type Following, follow, problemOf, roomIn } from './listener-under-test.ts';

const PRESENTER_TOKEN = 'the-token-of-the-presenter';
const files = {
  '/': { type: 'text/html; charset=utf-8', text: '<!doctype html><title>page</title>' },
  '/page.js': { type: 'text/javascript; charset=utf-8', text: 'page()' },
};
const cell = { stage: '4-ttl', drill: 'slow-holder' };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const view = (change: Partial<StackView> = {}): StackView => ({
  ...emptyView,
  stage: '4-ttl',
  title: 'Stage 4 · ttl',
  ...change,
});

const drill = { name: 'slow-holder', asks: 'who is harmed?', taught: 'fail' as const, kind: 'steps' as const };
const stage = { name: '4-ttl', title: 'Stage 4 · ttl', problem: '', change: '', leaves: '', code: '' };
const choices = [{ ...stage, drills: [drill] }];

/** The page as it is served with --share: both listeners, and what they were asked for. */
async function serve() {
  const trouble = 'ENOENT /home/ada/secret';
  const state: LiveState = {
    play: { is: 'ready', trouble },
    controls: [{ act: 'kill', at: 'node-1', isOn: false }],
    views: [view()],
    puzzle: { levels: [], opening: null, game: null, trouble },
  };
  const orders: (Order | RoomOrder | PuzzleOrder)[] = [];
  const bugs: unknown[] = [];
  const onBug = (error: unknown) => bugs.push(error);
  const changed = () => {
    stream.changed();
    shared?.changed();
  };
  const room = createRoom({ questions: readQuestions(), read: () => state, onChange: changed });
  const stream = createStream({ choices: [], read: () => ({ ...state, room: room.forPresenter() }) });
  const app = createPresenterApp({
    files,
    token: PRESENTER_TOKEN,
    stream,
    order: async (order) => void orders.push(order),
    orderRoom(order) {
      orders.push(order);
      room.order(order);
    },
    orderPuzzle: (order) => orders.push(order),
    savedPage: () => ({ name: 'run.html', text: 'the run' }),
    onBug,
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let shared: Awaited<ReturnType<typeof shareRoom>> | undefined;
  shared = await shareRoom({ files, choices, read: () => state, room, port: 0, onBug, addresses: ['127.0.0.1'] });
  closing.push(async () => {
    await shared?.close();
    stream.end();
    server.closeAllConnections();
    server.close();
  });
  const { token } = shared;
  const port = Number(new URL(shared.addresses[0] ?? '').port);
  return { state, room, orders, bugs, shared, changed, token, port, own: (server.address() as AddressInfo).port };
}
type Served = Awaited<ReturnType<typeof serve>>;

async function followed({ port, token }: Pick<Served, 'port' | 'token'>, id?: string): Promise<Following> {
  const following = await follow(port, `/stream?token=${token}${id === undefined ? '' : `&id=${id}`}`);
  closing.push(following.hangUp);
  return following;
}

const voteHeaders = (token: string, id: string) => ({
  'content-type': 'application/json',
  authorization: `Bearer ${token}`,
  'follower-id': id,
});
const vote = ({ port, token }: Served, id: string, answer: number, question = 1) =>
  ask(port, '/vote', { method: 'POST', headers: voteHeaders(token, id), body: JSON.stringify({ question, answer }) });

describe('a follower', () => {
  test('sees what is projected, and the question; no buttons, not what is taught or went wrong, nor a token', async () => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });

    const { messages, id } = await followed(served);

    expect(messages).toEqual([
      { type: 'follower', id: expect.stringMatching(/^[\w-]{16}$/) },
      {
        type: 'all',
        choices: [{ ...stage, drills: [{ ...drill, taught: null }] }],
        state: {
          play: { is: 'ready', trouble: null },
          controls: null,
          views: [view()],
          puzzle: { levels: [], opening: null, game: null, trouble: null },
          room: served.room.forFollowers(),
        },
      },
    ]);
    expect(served.room.knows(id)).toBe(true);
    const sent = JSON.stringify(messages);
    for (const secret of [PRESENTER_TOKEN, served.token, 'secret', 'isRight":true']) expect(sent).not.toContain(secret);
  });

  test('votes; the presenter sees it at once, the room when the votes are closed', async () => {
    const served = await serve();
    const presenter = await follow(served.own, `/stream?token=${PRESENTER_TOKEN}`);
    closing.push(presenter.hangUp);
    const { messages, id } = await followed(served);
    served.room.order({ do: 'ask', ...cell });

    expect((await vote(served, id, 3)).status).toBe(204);

    const shown = (messages: Following['messages']) => roomIn(messages)?.question?.answers.map(({ votes }) => votes);
    await until('the presenter sees it', () => shown(presenter.messages)?.[3] === 1);
    await until('the room sees how many', () => roomIn(messages)?.question?.voted === 1);
    expect(shown(messages)).toEqual([null, null, null, null]);
    served.room.order({ do: 'close-votes' });
    await until('the room sees it', () => shown(messages)?.[3] === 1);
    expect(problemOf(await vote(served, id, 1))).toEqual([409, 'VOTES_CLOSED']);
    expect(shown(presenter.messages)).toEqual([0, 0, 0, 1]);
  });

  test('that comes again with its id is who it was; with a made-up one it is somebody new', async () => {
    const served = await serve();
    const { id, hangUp } = await followed(served);
    hangUp();
    await until('it has left', () => served.room.forPresenter().followers === 0);

    expect((await followed(served, id)).id).toBe(id);
    expect((await followed(served, 'made-up')).id).not.toBe('made-up');
  });

  test('the token may be typed in capitals and without its hyphens', async () => {
    const { port, token } = await serve();

    const { id } = await followed({ port, token: token.toUpperCase().replaceAll('-', '') });

    expect(id).not.toBe('');
  });
});

test('a browser that reads gzip is sent the same, compressed, from the first message to the last', async () => {
  const served = await serve();
  const path = `/stream?token=${served.token}`;
  const gzip = { 'accept-encoding': 'gzip, deflate' };
  const [plain, packed] = [await followed(served), await follow(served.port, path, gzip)];
  closing.push(packed.hangUp);
  expect((await ask(served.port, path, { headers: gzip })).headers['content-encoding']).toBe('gzip');
  await until('it has left', () => served.shared.count() === 2);

  for (const stage of ['5-owner-check', '6-lua-release', '7-reentrant']) {
    served.state.views = [view({ stage, title: `with äöü and ${'the same again and again, '.repeat(1_000)}` })];
    served.changed();
    const sent = ({ messages }: Following) =>
      messages
        .map((message) => (message.type === 'changed' ? message.views : undefined))
        .find((views) => views?.[0]?.stage === stage);
    await until(`${stage} has come to both`, () => sent(plain) !== undefined && sent(packed) !== undefined);
    expect(sent(packed)).toEqual(sent(plain));
  }
});

describe('200 followers on one laptop', () => {
  test('vote at once: every vote counts, and all of them see the bars', async () => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });
    const room = await Promise.all(Array.from({ length: 200 }, () => followed(served)));
    expect(served.room.forPresenter().followers).toBe(200);
    expect(new Set(room.map(({ id }) => id)).size).toBe(200);

    const answers = await Promise.all(
      room.map(({ id }, place) => vote(served, id, [0, 1, 1, 2, 3, 3, 3, 3][place % 8] ?? 0)),
    );

    expect(answers.filter(({ status }) => status !== 204)).toEqual([]);
    served.room.order({ do: 'reveal' });
    const bars = (messages: Following['messages']) => roomIn(messages)?.question?.answers.map(({ votes }) => votes);
    await until('all have the bars', () => room.every(({ messages }) => roomIn(messages)?.question?.is === 'revealed'));
    expect(room.map(({ messages }) => bars(messages))).toEqual(room.map(() => [25, 50, 25, 100]));
    expect(served.bugs).toEqual([]);
  });

  test('250 may follow; the next one is told that the room is full, and gets in when one has left', async () => {
    const served = await serve();
    const room = await Promise.all(Array.from({ length: 250 }, () => followed(served)));

    expect(problemOf(await ask(served.port, `/stream?token=${served.token}`))).toEqual([503, 'TOO_MANY_FOLLOW']);
    room[0]?.hangUp();
    await until('one has left', () => served.shared.count() === 249);
    expect((await followed(served)).id).not.toBe('');
  });

  test('a flood of votes of one follower: two a second count, the others are refused, the room votes on', async () => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });
    const [flooder, other] = [await followed(served), await followed(served)];

    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 500 }, (_, count) => vote(served, flooder.id, count % 4)));
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000);

    const taken = answers.filter(({ status }) => status === 204);
    expect(taken.length).toBeGreaterThanOrEqual(2);
    expect(taken.length).toBeLessThanOrEqual(2 * (seconds + 1));
    expect(answers.filter(({ status }) => status === 429).length).toBe(500 - taken.length);
    expect((await vote(served, other.id, 0)).status).toBe(204);
    expect(served.room.forPresenter().question?.voted).toBe(2);
  });

  test('20 that never read: nothing is kept for them, they are hung up on, and the others go on', async () => {
    const state: LiveState = { play: { is: 'ready', trouble: null }, controls: null, views: [view()] };
    const room = createRoom({ questions: {}, read: () => state, onChange: () => {} });
    const stream = createStream({ choices: [], read: () => state, mostFollowers: 250, readLimitMs: 1_000 });
    const responses: ServerResponse[] = [];
    const app = createFollowerApp({ files, token: 'abc', stream, room, onBug: () => {} });
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
    await until('all follow', () => stream.count() === 20);
    const reader = await followed({ port, token: 'abc' });

    let most = 0;
    for (let turn = 0; stream.count() > 1; turn += 1) {
      state.views = [view({ title: `${turn} ${'x'.repeat(1_000_000)}` })];
      stream.changed();
      await new Promise((resolve) => setTimeout(resolve, 20));
      most = Math.max(most, ...responses.map(({ writableLength }) => writableLength));
    }

    expect(most).toBeLessThan(3_000_000);
    expect(room.forPresenter().followers).toBe(1);
    state.views = [view({ title: 'after them' })];
    stream.changed();
    await until('the reader has it', () => JSON.stringify(reader.messages.at(-1)).includes('after them'));
  });
});

describe('a vote is refused', () => {
  test.each<[string, unknown, Record<string, string>, number, string]>([
    ['that is no JSON', '{', {}, 400, 'BAD_REQUEST'],
    ['without an answer', { question: 1 }, {}, 400, 'BAD_REQUEST'],
    ['for an answer that there is not', { question: 1, answer: 4 }, {}, 400, 'BAD_REQUEST'],
    ['for half an answer', { question: 1, answer: 0.5 }, {}, 400, 'BAD_REQUEST'],
    ['for an answer by name', { question: 1, answer: '0' }, {}, 400, 'BAD_REQUEST'],
    ['with a member too many', { question: 1, answer: 0, weight: 100 }, {}, 400, 'BAD_REQUEST'],
    ['that is an order', { do: 'reveal' }, {}, 400, 'BAD_REQUEST'],
    ['that is a list', [{ question: 1, answer: 0 }], {}, 400, 'BAD_REQUEST'],
    ['that is nothing', 'null', {}, 400, 'BAD_REQUEST'],
    ['of 201 bytes', `{"question":1,"answer":0}${' '.repeat(176)}`, {}, 413, 'BAD_REQUEST'],
    ['that is compressed', '{"question":1,"answer":0}', { 'content-encoding': 'gzip' }, 400, 'BAD_REQUEST'],
    [
      'that is a form',
      'question=1&answer=0',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['that is text', '{"question":1,"answer":0}', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['of no follower', { question: 1, answer: 0 }, { 'follower-id': 'made-up' }, 403, 'FOLLOWER_UNKNOWN'],
  ])('%s', async (_which, body, headers, status, code) => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });
    const { id } = await followed(served);

    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const asked: Asked = { method: 'POST', headers: { ...voteHeaders(served.token, id), ...headers }, body: text };
    expect(problemOf(await ask(served.port, '/vote', asked))).toEqual([status, code]);

    expect(served.room.forPresenter().question?.voted).toBe(0);
    expect(served.bugs).toEqual([]);
  });
});

describe('not a way in', () => {
  /** Every order that there is, by its path. A new one needs an example here. */
  const orders: Record<Order['do'] | RoomOrder['do'], Order | RoomOrder> = {
    play: { do: 'play', ...cell, isStepwise: false },
    next: { do: 'next' },
    'run-on': { do: 'run-on' },
    stop: { do: 'stop' },
    free: { do: 'free', stage: cell.stage },
    act: { do: 'act', act: 'kill', at: 'node-1' },
    undo: { do: 'undo' },
    ask: { do: 'ask', ...cell },
    predict: { do: 'predict', answer: 0 },
    'close-votes': { do: 'close-votes' },
    reveal: { do: 'reveal' },
    forget: { do: 'forget' },
  };
  const puzzleOrders: Record<PuzzleOrder['do'], PuzzleOrder> = {
    open: { do: 'open', level: '4-ttl/slow-holder' },
    move: { do: 'move', index: 0, step: 0 },
    'go on': { do: 'go on', step: 0 },
    undo: { do: 'undo' },
    again: { do: 'again' },
    hint: { do: 'hint' },
    close: { do: 'close' },
  };
  const all = [...Object.values(orders), ...Object.values(puzzleOrders)];
  const otherMethods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
  const paths = [
    '/order',
    '/puzzle',
    '/run',
    '/room',
    '/stream',
    '/vote',
    '/state',
    '/lab',
    '/',
    '/page.js',
    '/../live.ts',
  ];

  test('every order has an example', () => {
    const named = (schema: { options: { shape: { do: { value: string } } }[] }) =>
      schema.options.map(({ shape }) => shape.do.value);

    expect(Object.keys(orders)).toEqual([...named(orderSchema), ...named(roomOrderSchema)]);
    expect(Object.keys(puzzleOrders)).toEqual(named(puzzleOrderSchema));
    for (const [name, order] of Object.entries({ ...orders, ...puzzleOrders })) expect(order.do).toBe(name);
  });

  test("with the follower's token nothing is carried out, on neither listener, by no method, on no path", async () => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });
    const before = served.room.forPresenter();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${served.token}` };
    const tried = [
      ...all.map((order) => ['POST', JSON.stringify(order)] as const),
      ...otherMethods.map((method) => [method, method === 'GET' ? undefined : '{"do":"stop"}'] as const),
    ];

    const done = new Set<string>();
    for (const [listener, port] of Object.entries({ presenter: served.own, follower: served.port })) {
      for (const [method, body] of tried) {
        for (const path of paths) {
          const asked: Asked = { method, headers, ...(body !== undefined && { body }) };
          const { status } = await ask(port, `${path}?token=${served.token}`, asked);
          if (status < 400) done.add(`${listener} ${method} ${path}`);
        }
      }
    }

    expect([...done].toSorted()).toEqual([
      'follower GET /',
      'follower GET /page.js',
      'follower GET /stream',
      'presenter GET /',
      'presenter GET /page.js',
    ]);
    expect(served.orders).toEqual([]);
    await until('the streams are closed', () => served.room.forPresenter().followers === 0);
    expect(served.room.forPresenter()).toEqual(before);
    expect(served.bugs).toEqual([]);
  });

  test("with the presenter's token the orders above are carried out, and only on the presenter's listener", async () => {
    const served = await serve();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${PRESENTER_TOKEN}` };
    const { ask: question, predict, reveal, forget, ...others } = orders;
    const byPath = {
      '/order': Object.values({ question, predict, ...others, reveal, forget }),
      '/puzzle': Object.values(puzzleOrders),
    };
    for (const [path, ofPath] of Object.entries(byPath)) {
      for (const order of ofPath) {
        const asked: Asked = { method: 'POST', headers, body: JSON.stringify(order) };
        expect((await ask(served.port, path, asked)).status).toBe(404);
        expect((await ask(served.own, path, asked)).status).toBe(204);
      }
    }
    expect(served.orders).toHaveLength(all.length);
    expect((await ask(served.own, `/run?token=${PRESENTER_TOKEN}`)).text).toBe('the run');
    expect((await ask(served.port, `/run?token=${PRESENTER_TOKEN}`)).status).toBe(404);

    expect(problemOf(await ask(served.port, `/stream?token=${PRESENTER_TOKEN}`))).toEqual([403, 'TOKEN_REFUSED']);
    const { id } = await followed(served);
    const asked: Asked = {
      method: 'POST',
      headers: voteHeaders(PRESENTER_TOKEN, id),
      body: '{"question":1,"answer":0}',
    };
    expect(problemOf(await ask(served.port, '/vote', asked))).toEqual([403, 'TOKEN_REFUSED']);
    expect(problemOf(await ask(served.own, '/vote', asked))).toEqual([404, 'NOT_FOUND']);
  });

  test.each([
    ['another name for this machine (DNS rebinding)', { host: 'evil.example' }, 'HOST_REFUSED'],
    ['what is no name', { host: 'a b' }, 'HOST_REFUSED'],
    ['another port', { host: '127.0.0.1:1' }, 'HOST_REFUSED'],
    ['no port', { host: '127.0.0.1' }, 'HOST_REFUSED'],
    ['an address that is not of this machine', { host: '192.0.2.7:$PORT' }, 'HOST_REFUSED'],
    ['a page of another origin', { origin: 'http://evil.example' }, 'ORIGIN_REFUSED'],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }, 'ORIGIN_REFUSED'],
    ['a page without an origin, as of a file', { origin: 'null' }, 'ORIGIN_REFUSED'],
  ])('%s is not answered', async (_who, { host, origin }: { host?: string; origin?: string }, code) => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });
    const { id } = await followed(served);
    const wrong = {
      ...(host !== undefined && { host: host.replace('$PORT', `${served.port}`) }),
      ...(origin && { origin }),
    };
    const headers = { ...voteHeaders(served.token, id), ...wrong };

    for (const [path, asked] of [
      ['/', {}],
      ['/page.js', {}],
      [`/stream?token=${served.token}`, {}],
      ['/vote', { method: 'POST', body: '{"question":1,"answer":0}' }],
    ] as const) {
      expect(problemOf(await ask(served.port, path, { ...asked, headers }))).toEqual([403, code]);
    }
    expect(served.room.forPresenter().question?.voted).toBe(0);
  });

  test('its own origin is answered, by each of its names', async () => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });
    for (const name of ['127.0.0.1', 'localhost', hostname(), `${hostname().toUpperCase()}.local`]) {
      const host = `${name}:${served.port}`;
      const { id } = await followed(served);
      const headers = { ...voteHeaders(served.token, id), host, origin: `http://${host}` };
      const asked: Asked = { method: 'POST', headers, body: '{"question":1,"answer":0}' };
      expect((await ask(served.port, '/vote', asked)).status).toBe(204);
    }
  });

  test('the page is served with the policy of the presenter, and so is a refusal', async () => {
    const { port, own } = await serve();
    const policy = async (port: number, path: string) => (await ask(port, path)).headers['content-security-policy'];

    expect(await policy(port, '/')).toContain("default-src 'none'; script-src 'self'");
    for (const path of ['/page.js', '/nothing']) expect(await policy(port, path)).toBe(await policy(own, '/'));
  });

  test('tokens are guessed: 20 a second are looked at; those who follow already vote on', async () => {
    const served = await serve();
    served.room.order({ do: 'ask', ...cell });
    const { id } = await followed(served);
    const guess = (count: number) => ask(served.port, `/stream?token=guess-${count}`);

    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, (_, count) => guess(count)));
    const seconds = (performance.now() - startedAt) / 1_000;

    const looked = answers.filter(({ status }) => status === 403).length;
    expect(looked).toBeGreaterThanOrEqual(20);
    expect(looked).toBeLessThanOrEqual(20 + Math.ceil(seconds * 20));
    expect(answers.filter(({ status }) => status === 429).length).toBe(200 - looked);
    expect((await vote(served, id, 0)).status).toBe(204);
    await until(
      'a newcomer gets in',
      async () => (await ask(served.port, `/stream?token=${served.token}`)).status === 200,
    );
  });

  test('a machine in no network can share nothing, and a taken port is named', async () => {
    const { room, state, port } = await serve();
    const options = { files, choices: [], read: () => state, room, port, onBug: () => {} };

    await expect(shareRoom({ ...options, addresses: [] })).rejects.toThrow('in no network');
    await expect(shareRoom({ ...options, addresses: ['127.0.0.1'] })).rejects.toThrow(`port ${port}`);
  });
});
