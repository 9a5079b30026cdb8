import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyView } from '../../../live/client/state.ts';
import { type LiveState, type Order, orderSchema, type StackView } from '../../../live/contract.ts';
import { type PuzzleOrder, puzzleOrderSchema } from '../../../live/puzzle-contract.ts';
import { readQuestions } from '../../../live/questions.ts';
import { type RoomOrder, roomOrderSchema } from '../../../live/room-contract.ts';
import { createPresenterApp } from '../../../live/server/presenter.ts';
import { Refusal } from '../../../live/server/refusal.ts';
import { createRoom } from '../../../live/server/room.ts';
import { shareRoom } from '../../../live/server/share.ts';
import { createStream } from '../../../live/server/stream.ts';
import { type Asked, ask, type Following, follow, problemOf, roomIn } from './listener-under-test.ts';
import { createNews } from './news.ts';

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
  const news = createNews();
  const changed = () => {
    stream.changed();
    shared?.changed();
    news.tell();
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
  return { room, state, orders, bugs, news, token, port, own: (server.address() as AddressInfo).port };
}
type Served = Awaited<ReturnType<typeof serve>>;

async function followed(
  { port, token, news }: Pick<Served, 'port' | 'token' | 'news'>,
  id?: string,
): Promise<Following> {
  const following = await follow(port, `/stream?token=${token}${id === undefined ? '' : `&id=${id}`}`, news);
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
    const presenter = await follow(served.own, `/stream?token=${PRESENTER_TOKEN}`, served.news);
    closing.push(presenter.hangUp);
    const { messages, id } = await followed(served);
    served.room.order({ do: 'ask', ...cell });

    expect((await vote(served, id, 3)).status).toBe(204);

    const shown = (messages: Following['messages']) => roomIn(messages)?.question?.answers.map(({ votes }) => votes);
    await served.news.until(() => shown(presenter.messages)?.[3] === 1);
    await served.news.until(() => roomIn(messages)?.question?.voted === 1);
    expect(shown(messages)).toEqual([null, null, null, null]);
    served.room.order({ do: 'close-votes' });
    await served.news.until(() => shown(messages)?.[3] === 1);
    expect(problemOf(await vote(served, id, 1))).toEqual([409, 'VOTES_CLOSED']);
    expect(shown(presenter.messages)).toEqual([0, 0, 0, 1]);
  });

  test('that comes again with its id is who it was; with a made-up one it is somebody new', async () => {
    const served = await serve();
    const { id, hangUp } = await followed(served);
    hangUp();
    await served.news.until(() => served.room.forPresenter().followers === 0);

    expect((await followed(served, id)).id).toBe(id);
    expect((await followed(served, 'made-up')).id).not.toBe('made-up');
  });

  test('the token may be typed in capitals and without its hyphens', async () => {
    const { token, ...served } = await serve();

    const { id } = await followed({ ...served, token: token.toUpperCase().replaceAll('-', '') });

    expect(id).not.toBe('');
  });
});

test('five followers vote: every vote counts, and all of them see the bars', async () => {
  const served = await serve();
  served.room.order({ do: 'ask', ...cell });
  const room = await Promise.all(Array.from({ length: 5 }, () => followed(served)));
  expect(new Set(room.map(({ id }) => id)).size).toBe(5);

  const answers = await Promise.all(room.map(({ id }, place) => vote(served, id, [0, 1, 1, 3, 3][place] ?? 0)));
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
  served.room.order({ do: 'reveal' });

  const question = ({ messages }: Following) => roomIn(messages)?.question;
  await served.news.until(() => room.every((following) => question(following)?.is === 'revealed'));
  expect(room.map((following) => question(following)?.answers.map(({ votes }) => votes))).toEqual(
    room.map(() => [1, 2, 0, 2]),
  );
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
    await served.news.until(() => served.room.forPresenter().followers === 0);
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

  test('a machine in no network can share nothing, and a taken port is named', async () => {
    const { room, state, port } = await serve();
    const options = { files, choices: [], read: () => state, room, port, onBug: () => {} };

    await expect(shareRoom({ ...options, addresses: [] })).rejects.toThrow('in no network');
    await expect(shareRoom({ ...options, addresses: ['127.0.0.1'] })).rejects.toThrow(`port ${port}`);
  });
});

describe('the listener of the presenter', () => {
  const orders: Order[] = [];
  const bugs: unknown[] = [];
  let failure: Error | undefined;
  let follows = true;
  let own: number;

  beforeEach(async () => {
    orders.length = 0;
    bugs.length = 0;
    failure = undefined;
    follows = true;
    const app = createPresenterApp({
      files,
      token: PRESENTER_TOKEN,
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
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    own = (server.address() as AddressInfo).port;
  });

  const askIt = (path: string, asked?: Asked) => ask(own, path, asked);
  const json = { 'content-type': 'application/json', authorization: `Bearer ${PRESENTER_TOKEN}` };
  const send = (order: unknown, headers: Record<string, string> = json) =>
    askIt('/order', { method: 'POST', headers, body: typeof order === 'string' ? order : JSON.stringify(order) });

  describe('the page', () => {
    test('is served with a policy that allows nothing but itself', async () => {
      const { status, headers, text } = await askIt('/');

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
        [`/stream?token=${PRESENTER_TOKEN}`, {}],
        ['/order', { method: 'POST', body: '{"do":"stop"}' }],
      ] as const) {
        expect(problemOf(await askIt(path, { ...asked, headers: { ...json, ...headers } }))).toEqual([403, code]);
      }
      expect(orders).toEqual([]);
    });

    test('its own origin is answered', async () => {
      expect((await send({ do: 'stop' }, { ...json, origin: `http://127.0.0.1:${own}` })).status).toBe(204);
    });
  });

  describe('the token', () => {
    test.each([
      ['none', {}],
      ['another one', { authorization: 'Bearer another' }],
      ['an empty one', { authorization: 'Bearer ' }],
      ['the beginning of it', { authorization: `Bearer ${PRESENTER_TOKEN.slice(0, -1)}` }],
    ])('%s: neither the stream nor an order', async (_which, headers) => {
      const { 'content-type': type } = json;

      expect(problemOf(await askIt('/stream', { headers }))).toEqual([403, 'TOKEN_REFUSED']);
      expect(problemOf(await send({ do: 'stop' }, { 'content-type': type, ...headers }))).toEqual([
        403,
        'TOKEN_REFUSED',
      ]);
      expect(orders).toEqual([]);
    });

    test('in the address it opens the stream, and carries out no order', async () => {
      expect((await askIt(`/stream?token=${PRESENTER_TOKEN}`)).status).toBe(200);
      const { 'content-type': type } = json;
      const asked = { method: 'POST', headers: { 'content-type': type }, body: '{"do":"stop"}' };

      expect(problemOf(await askIt(`/order?token=${PRESENTER_TOKEN}`, asked))).toEqual([403, 'TOKEN_REFUSED']);
    });

    test('too many windows: the next one is told', async () => {
      follows = false;

      expect(problemOf(await askIt(`/stream?token=${PRESENTER_TOKEN}`))).toEqual([503, 'TOO_MANY_FOLLOW']);
    });
  });

  describe('an order', () => {
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
    expect(problemOf(await askIt(path, { method, headers: json }))).toEqual([404, 'NOT_FOUND']);
  });
});
