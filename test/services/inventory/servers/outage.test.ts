// Redis is away from a node: its connections are reset, or nothing comes through any more, in one direction or in both.

import { once } from 'node:events';
import { afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { connectStore } from '../../../../services/inventory/servers/store.ts';
import { type Link, openLink } from '../../../../stack/proxy/link.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import {
  expectProblem,
  linesBesideOutages,
  startHeldSale,
  startLink,
  startNode,
  startNodeAlone,
  type TestNode,
  until,
} from '../node-under-test.ts';

let redis: SharedRedis;
/** `node` reaches Redis by it. */
let link: Link;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  link = await openLink(redis.url);
  cleanUpLater(link.close);
  [node, other] = await Promise.all([startNode(link.url), startNode(redis.url)]);
});

afterEach(isBack);

async function isBack() {
  link.restore();
  await until('the node reaches Redis', async () => (await node.get('/readyz')).status === 200);
}

async function prepare(lock: string, sku: string) {
  for (const each of [node, other])
    expect((await each.lab('PUT', '/lock-version', { version: lock })).status).toBe(200);
  await redis.client.set(stockKey(sku), 10);
}

const stockKey = (sku: string) => `{inventory${sku}}:stock`;
const lockKeys = (sku: string) => redis.client.keys(`{inventory${sku}}:lock:*`);
const noLockIsLeft = (sku: string) => until('no lock is left', async () => (await lockKeys(sku)).length === 0);

test('outage: a sale that never got to ask for its lock does not delete that of somebody else', async () => {
  await prepare('3-spin', 'other');
  await redis.client.set('{inventoryother}:lock:3-spin', 'somebody else');
  link.cut('silent');
  // From the first answer that does not come in time, the node knows that Redis is away, and sends nothing more.
  expectProblem(await node.get('/inventory'), 'STORE_UNAVAILABLE');

  for (let sale = 1; sale <= 3; sale += 1) expectProblem(await node.sell('other'), 'STORE_UNAVAILABLE');
  await isBack();

  expect(await redis.client.get('{inventoryother}:lock:3-spin')).toBe('somebody else');
});

test.each(['8-auto-renew', 'combine'])(
  'outage, %s: a sale that never got to send its write certainly did not take place',
  async (lock) => {
    await prepare(lock, `unsent-${lock}`);
    const { answer, resume } = await startHeldSale(node, `unsent-${lock}`);

    link.cut();
    // From this answer on the node knows that Redis is away.
    expectProblem(await node.get('/readyz'), 'STORE_UNAVAILABLE');
    await resume();

    expectProblem(await answer, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
    await isBack();
    await until('no lock is left', async () => (await lockKeys(`unsent-${lock}`)).every((key) => !key.endsWith(lock)));
    expect(await redis.client.get(stockKey(`unsent-${lock}`))).toBe('10');
  },
);

async function skipWithoutAddresses(skip: (isSo: boolean, why: string) => void) {
  const info = String(await redis.client.call('CLIENT', 'INFO'));
  skip(!/ addr=\S/.test(info), 'The embedded Valkey does not know its connections by address, so none can be ended.');
}

test('outage: a write that is held up on its way to Redis never lands on a later stock', async ({ skip }) => {
  await skipWithoutAddresses(skip);
  await prepare('8-auto-renew', 'late');
  const write = link.holdNext(({ name, args }) => name === 'SET' && args[0] === stockKey('late'));
  expectProblem(await node.sell('late'), 'STORE_UNAVAILABLE', { definite: false });
  await isBack();
  await node.lab('PUT', '/stock', { sku: 'late', stock: 777 });

  await write.letGo();

  await noLockIsLeft('late');
  expect((await node.sell('late')).body).toMatchObject({ outcome: 'sold', stockBefore: 777 });
});

test.for<[what: string, rule: string, lacking: RegExp[]]>([
  ['may send every command', '+@all', []],
  ['may not send CLIENT INFO', '-client|info', [/may overwrite newer stock, because Redis refuses .* 'client\|info'/]],
  ['may not send CLIENT KILL', '-client|kill', [/may overwrite newer stock, because Redis refuses .* 'client\|kill'/]],
])(
  'outage: a user of Redis %s: the log says what is lacking, before it and once',
  async ([, rule, lacking], { skip }) => {
    await skipWithoutAddresses(skip);
    await redis.client.acl('SETUSER', 'limited', 'reset', 'on', '>pass', '~*', '&*', '+@all', rule);
    const warn = vi.fn();
    const store = connectStore(redis.url.replace('//', '//limited:pass@'), 1, {}, { warn });
    onTestFinished(async () => {
      store.redis.disconnect();
      await redis.client.acl('DELUSER', 'limited');
    });
    const isConnected = async () => {
      await once(store.redis, 'ready');
      // Redis answers in order. The first is answered behind INFO; by then KILL is sent, before or
      // behind the second, so before the third; the fourth is sent when that answer has been read.
      for (let ping = 1; ping <= 4; ping += 1) await store.redis.ping();
    };
    const lines = lacking.map((words) => [expect.stringMatching(words)]);

    await isConnected();
    expect(warn.mock.calls).toEqual(lines);
    await Promise.all([isConnected(), redis.client.call('CLIENT', 'KILL', 'USER', 'limited')]);
    expect(warn.mock.calls).toEqual(lines);
  },
);

test('outage: the other calls answer 503 as well, on both listeners, and none of them hangs', async () => {
  link.cut();

  for (const path of ['/inventory', '/readyz', '/inventory/sale']) {
    expectProblem(await node.get(path), 'STORE_UNAVAILABLE');
  }
  expectProblem(await node.lab('PUT', '/stock', { stock: 5 }), 'STORE_UNAVAILABLE');
  expectProblem(await node.lab('DELETE', '/stock'), 'STORE_UNAVAILABLE');
  expectProblem(await node.lab('GET', '/redis'), 'STORE_UNAVAILABLE');
  for (const path of ['/healthz', '/metrics']) expect((await node.get(path)).status).toBe(200);
  expect((await node.lab('GET', '/state')).status).toBe(200);
});

test('outage: a node that starts while Redis is away sells when it comes', async () => {
  const own = await startLink(redis.url);
  own.cut();
  const early = await startNodeAlone(own.url);
  expectProblem(await early.sell('early'), 'STORE_UNAVAILABLE');
  await redis.client.set(stockKey('early'), 10);

  own.restore();

  await until('it sells', async () => (await early.sell('early')).status === 200);
});

test('outage: no node has died, logged a bug or warned of leaking listeners', () => {
  for (const each of [node, other]) expect(linesBesideOutages(each)).toEqual([]);
});
