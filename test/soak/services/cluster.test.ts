import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { oneNodeRush } from '../../../loadtest/drills/one-node-rush.ts';
import { sellOut } from '../../../loadtest/drills/sell-out.ts';
import { sendBasket } from '../../../loadtest/harness/single-sale.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { listen } from '../../../locks/drivers/channels.ts';
import { clusterSlotOf } from '../../../locks/drivers/cluster-slot.ts';
import { openRedis } from '../../../scripts/stack/redis.ts';
import { openStream, paymentsKey, refusedKey } from '../../../services/inventory/orders/payments/stream.ts';
import { connectRedis } from '../../../services/inventory/redis-client.ts';
import { connectStore, stockKey, wasNeverSent } from '../../../services/inventory/store.ts';
import { lackOfDeleting, lacksDeleting } from '../../lacks-deleting.ts';
import { until } from '../../services/inventory/node-under-test.ts';
import { expectAllSold, openTargetAt, redisStrategies, runLoad } from '../../services/inventory/rush-at.ts';
import { startBuyers } from './buyers.ts';
import { ownServers } from './own-servers.ts';

/** Longer than a silent server is believed to live, so that the others have noticed. */
const AWAY_MS = 1_500;
const BUYERS = 20;

const { startCluster } = ownServers();
let cluster: Awaited<ReturnType<typeof startCluster>>;
let target: Target;

beforeAll(async () => {
  cluster = await startCluster();
  target = await openTargetAt(cluster.url);
});

afterAll(() => target?.close());

test('cluster: slots are counted as the servers count them', async () => {
  const keys = [stockKey('001'), 'a', '', 'ä{ö}ü', '{}{a}', 'a{b{c}d}', '{a', '}{a}', stockKey('X_-')];
  const named = await Promise.all(keys.map((key) => cluster.masters[0]?.client.call('CLUSTER', 'KEYSLOT', key)));

  expect(keys.map(clusterSlotOf)).toEqual(named);
});

describe('cluster: a rush through nginx loses nothing, and all that it touches lives in one slot', () => {
  test.each(redisStrategies)('%s', async (stage) => {
    const { words, stop } = await listenIn();
    const outcome = await runLoad(target, stage);
    await until('the stock was seen', () => words.has(stockKey('001')));
    stop();

    expectAllSold(outcome);
    const touched = [...words].filter((word) => word.includes('inventory'));
    expect(new Set(touched.map(clusterSlotOf))).toEqual(new Set([clusterSlotOf(stockKey('001'))]));
  });

  test('without a lock it fails: the check can see a lost update', async () => {
    expect((await runLoad(target, '0-none')).verdict).toBe('fail');
  });

  test('the other loads: a mutex on one node, and a sell-out', async () => {
    expectAllSold(await runLoad(target, '1-in-process', oneNodeRush));
    const soldOut = await runLoad(target, '6-lua-release', sellOut);
    expect(soldOut).toMatchObject({ verdict: 'pass', figures: { sold: 100, soldOut: 100, oversold: 0 } });
  });
});

test('cluster: a basket whose skus live on different servers is sold from both sides, and none is lost', async () => {
  const skus = ['001', '002', '003'];
  const owners = await Promise.all(skus.map((sku) => cluster.ownerOf(stockKey(sku))));
  expect(new Set(owners.map(({ port }) => port)).size).toBeGreaterThan(1);
  for (const node of target.nodes) await node.setLock('multi');
  for (const sku of skus) await target.nodes[0]?.setStock(100, sku);

  const baskets = Array.from({ length: BUYERS }, (_, at) => {
    const node = target.nodes[at % 2] as Target['nodes'][number];
    return sendBasket(node, at % 2 === 0 ? skus : skus.toReversed()).end;
  });
  const ends = await Promise.all(baskets);

  expect(ends.filter(({ outcome }) => outcome !== 'sold')).toEqual([]);
  expect(await Promise.all(skus.map((sku) => target.nodes[0]?.stock(sku)))).toEqual(skus.map(() => 100 - BUYERS));
  for (const sku of skus) await target.nodes[0]?.clear(sku);
});

test('cluster: a lock whose commands its servers lack is not applicable, and says so', async ({ skip }) => {
  const [first] = cluster.masters;
  skip(!(await lacksDeleting(`redis://127.0.0.1:${first?.port}`)));

  expect(await runLoad(target, 'delete-if-equal')).toMatchObject({
    verdict: 'not-applicable',
    reasons: [expect.stringMatching(lackOfDeleting)],
  });
});

test('cluster: a channel is listened to where its locks are released, so that the release learns how many have heard', async () => {
  const client = connectRedis(cluster.url, {});
  onTestFinished(() => client.disconnect());
  const channel = `${stockKey('001')}:heard`;
  const heard: (string | undefined)[] = [];
  // As soon as it is made: it does not know yet which server that is.
  const stop = listen(client, channel, (message) => heard.push(message));
  const owner = await cluster.ownerOf(channel);
  const listeners = async () => (await owner.client.pubsub('NUMSUB', channel))[1];
  await until('the subscription stands', async () => heard.length > 0 && (await listeners()) === 1);
  const other = cluster.masters.find(({ port }) => port !== owner.port);

  expect(await owner.client.publish(channel, 'at home')).toBe(1);
  expect(await other?.client.publish(channel, 'from elsewhere')).toBe(0);

  // Without a message it is made to look again, once or more.
  const messages = () => heard.filter((message) => message !== undefined);
  await until('both were heard', () => messages().length === 2);
  expect(messages()).toEqual(['at home', 'from elsewhere']);
  stop();
  await until('nobody listens', async () => (await listeners()) === 0);
});

test('cluster: a payment is delivered, taken over, put aside and acknowledged, all in one slot', async () => {
  const client = connectRedis(cluster.url, {});
  onTestFinished(() => client.disconnect());
  onTestFinished(async () => void (await client.del(paymentsKey, refusedKey)));
  const [one, other] = [openStream(client, 'one'), openStream(client, 'other')];
  expect(await one.makeGroup()).toBe(false);
  const id = String(await client.xadd(paymentsKey, '*', 'key', 'value'));
  const message = { id, fields: { key: 'value' } };

  expect(await one.makeGroup()).toBe(true);
  expect(await other.makeGroup()).toBe(true);
  expect(await one.readNew(10)).toEqual(message);
  expect(await other.readNew(10)).toBeUndefined();
  expect(await other.claimIdle(60_000)).toBeUndefined();
  expect(await other.claimIdle(0)).toEqual(message);
  await other.putAside(message, 'why not');

  expect(await other.claimIdle(0)).toBeUndefined();
  const [[, refused] = []] = await client.xrange(refusedKey, '-', '+');
  expect(refused).toEqual(['key', 'value', 'id', id, 'why', 'why not']);
  expect(clusterSlotOf(refusedKey)).toBe(clusterSlotOf(paymentsKey));
});

test('cluster: the commands of all masters count', async () => {
  const [node] = target.nodes;
  const before = await node?.redis();
  for (const { client } of cluster.masters) await Promise.all(Array.from({ length: 100 }, () => client.ping()));
  const after = await node?.redis();

  expect(after?.masters).toBe(3);
  expect((after?.commandsProcessed ?? 0) - (before?.commandsProcessed ?? 0)).toBeGreaterThanOrEqual(300);
  expect(target.redis).toEqual({ kind: 'external', version: expect.stringMatching(/, a Cluster of 3 masters$/) });
});

test.each([
  ['there is no Cluster', () => 'redis+cluster://127.0.0.1:1', /does not answer: connect ECONNREFUSED/],
  ['there is no Sentinel', () => 'redis+sentinel://127.0.0.1:1/shop', /does not answer: All sentinels are unreachable/],
  ['the address is that of one server', () => `redis://127.0.0.1:${cluster.masters[0]?.port}`, /redis\+cluster:/],
])('cluster: a run says so when %s', async (_what, url, sentence) => {
  await expect(openRedis(url(), { dir: '.' })).rejects.toThrow(sentence);
});

test('cluster: while a master is away every sale is answered 503 within a second, and sales are made again when it is back', async () => {
  const owner = await cluster.ownerOf(stockKey('001'));
  const [node] = target.nodes;
  for (const each of target.nodes) await each.setLock('8-auto-renew', { leaseMs: 1_000 });
  await node?.setStock(100_000);
  const { purchases, hasSoldSince, stop } = startBuyers(target.url, BUYERS);
  await until('they sell', () => hasSoldSince(0));

  await owner.kill();
  const awayAt = performance.now();
  await sleep(AWAY_MS);
  await owner.startAgain();
  await until('the Cluster is whole', cluster.isWhole);
  const backAt = performance.now();
  await until('they sell', () => hasSoldSince(backAt));
  await stop();

  const refused = purchases.filter(({ status }) => status !== 200);
  expect([...new Set(refused.map(({ status, code }) => `${status} ${code}`))]).toEqual(['503 STORE_UNAVAILABLE']);
  expect(
    purchases
      .filter(({ startedAt, endedAt }) => startedAt > awayAt && endedAt < backAt - 500)
      .map(({ status }) => status),
  ).not.toContain(200);
  expect(Math.max(...purchases.map(({ startedAt, endedAt }) => endedAt - startedAt))).toBeLessThan(1_000);
  // Nothing lands late: every unit is accounted for.
  const sold = purchases.filter(({ status }) => status === 200).map(({ stockBefore }) => stockBefore);
  const inDoubt = refused.filter(({ definite }) => definite === false).length;
  const drop = 100_000 - Number(await node?.stock());
  expect(new Set(sold).size).toBe(sold.length);
  expect(drop).toBeGreaterThanOrEqual(sold.length);
  expect(drop).toBeLessThanOrEqual(sold.length + inDoubt);
});

test('cluster: a write that was under way when its server left may have been done, and counts as sent', async () => {
  const store = connectStore(cluster.url);
  onTestFinished(() => store.redis.disconnect());
  await store.back();
  const owner = await cluster.ownerOf(stockKey('gone'));
  await store.writeStock('gone', 7);
  const connection = (store.redis as Cluster).nodes('master').find(({ options }) => options.port === owner.port);

  owner.signal('SIGSTOP');
  const failed = store.writeStock('gone', 6).catch((error: Error) => error);
  // As when the Cluster is found to be without this server.
  connection?.disconnect();
  const error = await failed;
  owner.signal('SIGCONT');

  expect(error).toMatchObject({ message: 'Connection is closed.' });
  expect(wasNeverSent(error)).toBe(false);
  await until('it is written', async () => (await owner.client.get(stockKey('gone'))) === '6');
  await owner.client.del(stockKey('gone'));
});

/** Every word of every command that a server of the Cluster is given, those of scripts included. */
async function listenIn() {
  const words = new Set<string>();
  const sockets = await Promise.all(cluster.masters.map(({ port }) => monitor(port)));
  for (const socket of sockets) {
    createInterface({ input: socket }).on('line', (line) => {
      for (const [, word = ''] of line.matchAll(/"([^"]*)"/g)) words.add(word);
    });
  }
  return { words, stop: () => sockets.forEach((socket) => void socket.destroy()) };
}

async function monitor(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.write('MONITOR\r\n');
  await once(socket, 'readable');
  return socket;
}
