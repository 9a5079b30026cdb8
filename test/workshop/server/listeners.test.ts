import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Command, RunView } from '../../../workshop/page/protocol.ts';
import { createPresenterApp } from '../../../workshop/server/presenter.ts';
import { readQuestions } from '../../../workshop/server/questions.ts';
import { Refusal } from '../../../workshop/server/refusal.ts';
import { createRoom } from '../../../workshop/server/room.ts';
import { shareRoom } from '../../../workshop/server/share.ts';
import { createStream } from '../../../workshop/server/stream.ts';
import { type Asked, ask, type Following, follow, problemOf } from './listener-under-test.ts';
import { createNews } from './news.ts';

const PRESENTER_TOKEN = 'the-token-of-the-presenter';
const files = {
  '/': { type: 'text/html; charset=utf-8', text: '<!doctype html><title>page</title>' },
  '/page.js': { type: 'text/javascript; charset=utf-8', text: 'page()' },
};
const PAGE = '<!doctype html><title>the page of the presenter</title>';
const cell = { stage: '4-ttl', drill: 'slow-holder' };
const isOfRoom = (command: Command) => ['ask', 'close-votes', 'reveal', 'forget'].includes(command.do);
const json = { 'content-type': 'application/json' };
const withToken = (token: string) => ({ ...json, authorization: `Bearer ${token}` });
const presenter = withToken(PRESENTER_TOKEN);
const VOTE = '{"question":1,"answer":0}';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The page as it is served with --share: both listeners, what they were asked for, and a question that is open. */
async function serve({ failure, lastRun = null }: { failure?: Error; lastRun?: number | null } = {}) {
  const run: RunView = {
    ...{
      number: 1,
      ...cell,
      title: ['Stage 4', '阶段 4'] as const,
      place: 'redis' as const,
      isLoad: false,
      events: [],
    },
    verdict: { verdict: 'fail', expected: 'fail', says: [{ form: 'text', values: { text: 'Two met.' } }] },
  };
  const commands: Command[] = [];
  const bugs: unknown[] = [];
  const onBug = (error: unknown) => bugs.push(error);
  const news = createNews();
  const changed = () => {
    stream.changed();
    shared?.changed();
    news.tell();
  };
  const room = createRoom({ questions: readQuestions(), lastRun: () => lastRun, onChange: changed });
  const read = () => ({ play: { trouble: 'ENOENT /home/ada/secret' }, run, room: room.forPresenter() });
  const stream = createStream({ read, everyMs: 100, mostFollowers: 10 });
  const app = createPresenterApp({
    page: PAGE,
    token: PRESENTER_TOKEN,
    stream,
    async command(command) {
      if (failure) throw failure;
      commands.push(command);
      if (isOfRoom(command)) room.command(command as Parameters<typeof room.command>[0]);
    },
    onBug,
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let shared: Awaited<ReturnType<typeof shareRoom>> | undefined;
  shared = await shareRoom({ files, readRun: () => run, room, port: 0, onBug, addresses: ['127.0.0.1'] });
  closing.push(async () => {
    await shared?.close();
    stream.end();
    server.closeAllConnections();
    server.close();
  });
  room.command({ do: 'ask', stage: cell.stage });

  const { token } = shared;
  const port = Number(new URL(shared.addresses[0] ?? '').port);
  const own = (server.address() as AddressInfo).port;
  async function opened(port: number, path: string): Promise<Following> {
    const following = await follow(port, path, news);
    closing.push(following.hangUp);
    return following;
  }
  return {
    ...{ room, run, commands, bugs, news, token, port, own },
    /** Somebody follows on a phone, with an id that was given before or without one. */
    follows: (shown = token, id = '') => opened(port, `/stream?token=${shown}${id && `&id=${id}`}`),
    presents: () => opened(own, `/stream?token=${PRESENTER_TOKEN}`),
    vote: (id: string, body: string, headers: Record<string, string> = {}) =>
      ask(port, '/vote', { method: 'POST', headers: { ...withToken(token), 'follower-id': id, ...headers }, body }),
    command: (command: unknown, headers: Record<string, string> = presenter) =>
      ask(own, '/command', {
        method: 'POST',
        headers,
        body: typeof command === 'string' ? command : JSON.stringify(command),
      }),
  };
}

describe('a follower', () => {
  test('sees the question, and what was played when the votes are closed; no buttons, not what went wrong, nor a token', async () => {
    const served = await serve();

    const { parts, id } = await served.follows();

    expect(parts).toEqual({
      follower: expect.stringMatching(/^[\w-]{16}$/),
      room: served.room.forFollowers(),
      run: null,
    });
    served.room.command({ do: 'close-votes' });
    await served.news.until(() => parts['run'] !== null);
    expect(parts).toEqual({ follower: id, room: served.room.forFollowers(), run: served.run });
    const sent = JSON.stringify(parts);
    for (const secret of [PRESENTER_TOKEN, served.token, 'secret', 'isRight":true']) expect(sent).not.toContain(secret);
  });

  test('does not see beside a question what was played before it; when the question is taken away it does', async () => {
    const { room, run, news, follows } = await serve({ lastRun: 1 });
    const { parts } = await follows();

    room.command({ do: 'reveal' });
    await news.until(() => parts.room?.question?.is === 'revealed');
    expect(parts['run']).toBeNull();
    room.command({ do: 'forget' });
    await news.until(() => parts['run'] !== null);
    expect(parts['run']).toEqual(run);
  });

  test('votes, and so does another one; the presenter sees it at once, the room when the votes are closed', async () => {
    const served = await serve();
    const wall = await served.presents();
    const [ada, ben] = [await served.follows(), await served.follows()];
    const shown = ({ parts }: Following) => parts.room?.question?.answers.map(({ votes }) => votes);

    expect((await served.vote(ada.id, '{"question":1,"answer":2}')).status).toBe(204);
    expect((await served.vote(ben.id, VOTE)).status).toBe(204);
    await served.news.until(() => `${shown(wall)}` === '1,0,1');
    await served.news.until(() => ada.parts.room?.question?.voted === 2);
    expect(shown(ada)).toEqual([null, null, null]);

    served.room.command({ do: 'close-votes' });
    await served.news.until(() => `${shown(ada)}${shown(ben)}` === '1,0,11,0,1');
    expect(problemOf(await served.vote(ada.id, VOTE))).toEqual([409, 'VOTES_CLOSED']);
  });

  test.each<[string, string, Record<string, string>, number, string]>([
    ['for an answer that there is not', '{"question":1,"answer":3}', {}, 400, 'BAD_REQUEST'],
    ['of 201 bytes', `${VOTE}${' '.repeat(176)}`, {}, 413, 'BAD_REQUEST'],
    ['of no follower', VOTE, { 'follower-id': 'made-up' }, 403, 'FOLLOWER_UNKNOWN'],
  ])('a vote %s is refused', async (_which, body, headers, status, code) => {
    const served = await serve();
    const { id } = await served.follows();

    expect(problemOf(await served.vote(id, body, headers))).toEqual([status, code]);
    expect([served.room.forPresenter().question?.voted, served.bugs]).toEqual([0, []]);
  });
});

describe('not a way in', () => {
  /** Every command that there is. A new one needs an example here. */
  const commands: Record<Command['do'], Command> = {
    play: { do: 'play', ...cell },
    stop: { do: 'stop' },
    free: { do: 'free', stage: cell.stage },
    act: { do: 'act', act: 'kill', at: 'node-1' },
    undo: { do: 'undo' },
    ask: { do: 'ask', stage: cell.stage },
    'close-votes': { do: 'close-votes' },
    reveal: { do: 'reveal' },
    forget: { do: 'forget' },
  };

  test("with the follower's token nothing is carried out, on neither listener, by no method, on no path", async () => {
    const served = await serve();
    const before = served.room.forPresenter();
    const headers = withToken(served.token);
    const methods = ['POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    const stop = methods.map((method): [string, string] => [method, '{"do":"stop"}']);
    const tried: [string, string | undefined][] = [['GET', undefined], ...stop];
    const paths = ['/command', '/run', '/stream', '/vote', '/state', '/', '/page.js', '/../live.ts'];

    const done = new Set<string>();
    for (const [listener, port] of Object.entries({ presenter: served.own, follower: served.port })) {
      for (const [method, body] of tried) {
        const asked: Asked = { method, headers, ...(body !== undefined && { body }) };
        const answers = paths.map((path) => ask(port, `${path}?token=${served.token}`, asked));
        for (const [place, { status }] of (await Promise.all(answers)).entries()) {
          if (status < 400) done.add(`${listener} ${method} ${paths[place]}`);
        }
      }
    }

    for (const command of Object.values(commands)) {
      const asked: Asked = { method: 'POST', headers, body: JSON.stringify(command) };
      for (const port of [served.own, served.port])
        expect((await ask(port, '/command', asked)).status).toBeGreaterThanOrEqual(400);
    }

    expect([...done].toSorted()).toEqual([
      'follower GET /',
      'follower GET /page.js',
      'follower GET /stream',
      'presenter GET /',
    ]);
    await served.news.until(() => served.room.forPresenter().followers === 0);
    expect([served.commands, served.room.forPresenter(), served.bugs]).toEqual([[], before, []]);
  });

  test("with the presenter's token the commands above are carried out, and only on the presenter's listener", async () => {
    const served = await serve();
    for (const command of Object.values(commands)) {
      const asked: Asked = { method: 'POST', headers: presenter, body: JSON.stringify(command) };
      const answers = [await ask(served.port, '/command', asked), await ask(served.own, '/command', asked)];
      expect(answers.map(({ status }) => status)).toEqual([404, 204]);
    }
    expect(served.commands).toEqual(Object.values(commands));

    expect(problemOf(await ask(served.port, `/stream?token=${PRESENTER_TOKEN}`))).toEqual([403, 'TOKEN_REFUSED']);
    const { id } = await served.follows();
    expect(problemOf(await served.vote(id, VOTE, presenter))).toEqual([403, 'TOKEN_REFUSED']);
    const asked: Asked = { method: 'POST', headers: presenter, body: VOTE };
    expect(problemOf(await ask(served.own, '/vote', asked))).toEqual([404, 'NOT_FOUND']);
  });

  test.each<[string, Record<string, string>, string, isSharedAlone?: boolean]>([
    ['another name for this machine (DNS rebinding)', { host: 'evil.example' }, 'HOST_REFUSED'],
    ['an address that is not of this machine', { host: '192.0.2.7:$PORT' }, 'HOST_REFUSED'],
    ['another port', { host: '127.0.0.1:1' }, 'HOST_REFUSED', true],
    ['a page of another origin', { origin: 'http://evil.example' }, 'ORIGIN_REFUSED'],
    ['a page without an origin, as of a file', { origin: 'null' }, 'ORIGIN_REFUSED'],
    ['a page of another site that says no origin', { 'sec-fetch-site': 'cross-site' }, 'ORIGIN_REFUSED'],
  ])('%s is not answered, with the token or without', async (_who, wrong, code, isSharedAlone = false) => {
    const served = await serve();
    const { id } = await served.follows();
    const host = wrong['host']?.replace('$PORT', `${served.port}`);
    const headers = { ...withToken(served.token), 'follower-id': id, ...wrong, ...(host !== undefined && { host }) };
    const refused = [403, code];

    for (const path of ['/', '/page.js', `/stream?token=${served.token}`])
      expect(problemOf(await ask(served.port, path, { headers }))).toEqual(refused);
    expect(problemOf(await served.vote(id, VOTE, headers))).toEqual(refused);
    expect(served.room.forPresenter().question?.voted).toBe(0);
    // The presenter may come through a tunnel, which has another port.
    if (isSharedAlone) return;
    for (const path of ['/', `/stream?token=${PRESENTER_TOKEN}`])
      expect(problemOf(await ask(served.own, path, { headers }))).toEqual(refused);
    expect(problemOf(await served.command({ do: 'stop' }, { ...headers, ...presenter }))).toEqual(refused);
    expect(served.commands).toEqual([]);
  });

  test('a link of another site leads to the page, and to nothing else', async () => {
    const { port, own } = await serve();
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };

    for (const at of [port, own]) {
      expect((await ask(at, '/', { headers })).status).toBe(200);
      expect(problemOf(await ask(at, '/stream', { headers }))).toEqual([403, 'TOKEN_REFUSED']);
    }
  });

  test('both are served with a policy that lets them ask nobody but themselves, and so is a refusal; only the page of the presenter runs what is written in it', async () => {
    const { port, own } = await serve();
    for (const [at, path, scripts] of [
      [own, '/', "'unsafe-inline' 'unsafe-eval'"],
      [port, '/', "'self'"],
      [port, '/page.js', "'self'"],
      [port, '/nothing', "'self'"],
    ] as const) {
      const { headers } = await ask(at, path);
      expect(`${headers['content-security-policy']}`.split('; ')).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          `script-src ${scripts}`,
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
    }
    expect((await ask(own, '/')).text).toBe(PAGE);
  });
});

describe('the listener of the presenter', () => {
  test.each<[string, Record<string, string>]>([
    ['none', {}],
    ['the beginning of it', { authorization: `Bearer ${PRESENTER_TOKEN.slice(0, -1)}` }],
  ])('the token: %s does not get the stream, and carries out nothing', async (_which, headers) => {
    const served = await serve();
    const refused = [403, 'TOKEN_REFUSED'];

    expect(problemOf(await ask(served.own, '/stream', { headers }))).toEqual(refused);
    expect(problemOf(await served.command({ do: 'stop' }, { ...json, ...headers }))).toEqual(refused);
    expect(served.commands).toEqual([]);
  });

  test('the token in the address opens the stream, and carries out no command', async () => {
    const { own } = await serve();

    expect((await ask(own, `/stream?token=${PRESENTER_TOKEN}`)).status).toBe(200);
    const asked = { method: 'POST', headers: json, body: '{"do":"stop"}' };
    expect(problemOf(await ask(own, `/command?token=${PRESENTER_TOKEN}`, asked))).toEqual([403, 'TOKEN_REFUSED']);
  });

  test.each<[string, unknown, Record<string, string>, number, string]>([
    ['that is no JSON', '{', presenter, 400, 'BAD_REQUEST'],
    ['that is text', '{"do":"stop"}', { ...presenter, 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['that is too large', { do: 'stop', now: 'x'.repeat(2_000) }, presenter, 413, 'BAD_REQUEST'],
  ])('a command %s is refused', async (_which, command, headers, status, code) => {
    const served = await serve();

    expect(problemOf(await served.command(command, headers))).toEqual([status, code]);
    expect([served.commands, served.bugs]).toEqual([[], []]);
  });

  test('a command that does not fit what goes on is answered with the reason; a bug is told to the terminal alone', async () => {
    const detail = 'Another drill is being played: stop it first.';
    const busy = await serve({ failure: new Refusal(409, 'BUSY', detail) });
    expect(JSON.parse((await busy.command({ do: 'stop' })).text)).toEqual({ status: 409, code: 'BUSY', detail });

    const failure = new Error('secret');
    const broken = await serve({ failure });
    const { status, text } = await broken.command({ do: 'stop' });
    expect([status, broken.bugs]).toEqual([500, [failure]]);
    expect(text).not.toContain('secret');
  });
});
