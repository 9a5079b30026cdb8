import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { followNode } from '../../../../loadtest/worlds/real/event-stream.ts';
import type { Push } from '../../../../services/inventory/admin/contract.ts';
import { createEventStreams, MAX_STREAMS } from '../../../../services/inventory/admin/event-stream.ts';
import type { NodeState, SaleEvent } from '../../../../services/inventory/sale/contract.ts';
import { createHistory } from '../../../../services/inventory/sale/history.ts';
import { listen } from '../../../listen.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { ask, expectProblem, startNode, type TestNode, until } from '../node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url, { LOCK_VERSION: '6' });
});

/** Follows a node until the test has ended, and keeps what it is sent. */
function follow({ labPort }: Pick<TestNode, 'labPort'>) {
  const pushes: (Push & { isFirst: boolean })[] = [];
  const gone: string[] = [];
  const { close } = followNode(`http://127.0.0.1:${labPort}`, {
    onPush: (push, isFirst) => void pushes.push({ ...push, isFirst }),
    onGone: (why) => void gone.push(why),
  });
  onTestFinished(close);
  return {
    pushes,
    gone,
    close,
    /** What the history must be, by what was sent. */
    events(): SaleEvent[] {
      const begin = pushes.findLastIndex(({ isFirst, cleared }) => isFirst || cleared);
      return pushes.slice(begin).flatMap(({ events }) => events);
    },
    state: () => pushes.findLast(({ state }) => state !== undefined)?.state,
    isThere: () => until('it follows', () => pushes.length > 0),
  };
}

/** A client that asks, and reads no answer. */
function startDeaf(port: number, path: string) {
  const deaf = connect(port, '127.0.0.1').pause();
  deaf.on('error', () => {});
  onTestFinished(() => void deaf.destroy());
  deaf.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
}

/** Sells so many units, 3 at a time. */
async function sellMany(seller: TestNode, sku: string, count: number) {
  let left = count;
  const buy = async () => {
    while (left > 0) {
      left -= 1;
      expect((await seller.sell(sku)).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 3 }, buy));
}

test('events: the lines are the history, whole and in its order, for one who was there and one who came late', async () => {
  await redis.client.set('{inventoryrush}:stock', 1_000);
  const early = follow(node);
  await early.isThere();
  const selling = sellMany(node, 'rush', 40);
  await until('a part is sold', () => early.events().length > 20);
  const late = follow(node);
  await selling;

  const history = await node.events();
  expect(history.length).toBeGreaterThanOrEqual(40 * 5);
  for (const follower of [early, late]) {
    await until('all of it is there', () => follower.events().length >= history.length);
    expect(follower.events()).toEqual(history);
    await until('the state is', async () => follower.state()?.counts.sold === (await node.state()).counts.sold);
    expect(await node.state()).toMatchObject(follower.state() as NodeState);
    expect(follower.pushes.every(({ dropped, cleared }) => dropped === 0 && !cleared)).toBe(true);
  }
});

test('events: eight may follow, a ninth may when one of them has hung up', async () => {
  const alone = await startNode(redis.url);
  const followers = Array.from({ length: MAX_STREAMS }, () => follow(alone));
  for (const { isThere } of followers) await isThere();

  const refused = await alone.lab('GET', '/events');
  expectProblem(refused, 'TOO_MANY_STREAMS');
  expect(refused.headers.get('retry-after')).toBe('1');

  followers[0]?.close();
  // It is refused until the node has noticed, and tries again by itself.
  const ninth = follow(alone);
  await ninth.isThere();
  expectProblem(await alone.lab('GET', '/events'), 'TOO_MANY_STREAMS');
});

test('events: a node that stops ends them, whether they are read or not, and lets nobody follow any more, while a sale goes on', async () => {
  const stopping = await startNode(redis.url, { WAIT_TIMEOUT_MS: '600000' });
  await redis.client.set('{inventorystopping}:stock', 10);
  await redis.client.hset('{inventorystopping}:lock:8-auto-renew', 'somebody else', 1);
  const follower = follow(stopping);
  await follower.isThere();
  startDeaf(stopping.labPort, '/events');
  const answer = stopping.sell('stopping');
  await until('the sale waits', async () => (await stopping.state()).waiting === 1);

  stopping.signal('SIGTERM');
  await until('it has ended', () => follower.gone.length > 0);
  expect(follower.gone[0]).toMatch(/has ended/);
  expectProblem(await ask(`http://127.0.0.1:${stopping.labPort}/events`), 'SHUTTING_DOWN');
  expect(follower.events().map(({ type }) => type)).toEqual(['waiting']);

  await redis.client.del('{inventorystopping}:lock:8-auto-renew');
  expect((await answer).body.outcome).toBe('sold');
  expect(await stopping.part.ended).toMatch(/ended with exit code 0/);
});

test('events: little waits for those who take nothing, and eight of them keep out nobody who reads, but for a second', async () => {
  vi.useFakeTimers({ toFake: ['hrtime'] });
  onTestFinished(() => void vi.useRealTimers());
  const state = await node.state();
  const history = createHistory('node');
  // Twenty megabytes, which are more than the system takes in for one who does not read.
  for (let n = 1; n <= 20_000; n += 1) history.record({ type: 'waiting', saleId: `${n}`.padEnd(1_000, '.') });
  const streams = createEventStreams(history, () => state);
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    responses.push(response);
    streams.open(response);
  });
  const port = await listen(server);

  for (let n = 0; n < MAX_STREAMS; n += 1) startDeaf(port, '/');
  await until('all are answered', () => responses.length === MAX_STREAMS);
  // They may be reading a long history, slowly.
  expect(() => streams.open({} as ServerResponse)).toThrow(`${MAX_STREAMS} clients already follow this node`);
  const reader = follow({ labPort: port });
  const received = () => reader.pushes.reduce((sum, { events, dropped }) => sum + events.length + dropped, 0);
  await until('all of it is there', () => {
    vi.advanceTimersByTime(1_000);
    return received() === 20_000;
  });
  // A line of a thousand events has a megabyte.
  for (const { writableLength } of responses) expect(writableLength).toBeLessThan(2_000_000);
});
