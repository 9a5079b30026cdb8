import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sendBasket } from '../../../loadtest/harness/sales.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { clusterSlotOf, listen } from '../../../locks/drivers/channels.ts';
import { openStream, paymentsKey, refusedKey } from '../../../services/inventory/orders/payments/stream.ts';
import { connectRedis } from '../../../services/inventory/servers/redis-client.ts';
import { stockKey } from '../../../services/inventory/servers/store.ts';
import { until } from '../../services/inventory/node-under-test.ts';
import { expectAllSold, openTargetAt, redisStrategies, runLoad } from '../../services/inventory/rush-at.ts';
import { accountOf, startBuyers } from './buyers.ts';
import { ownServers } from './own-servers.ts';

/** Longer than a silent server is believed to live, so that the others have noticed. */
const AWAY_MS = 1_500;
const BUYERS = 20;
const STOCK = 100_000;

const { startCluster } = ownServers();
let cluster: Awaited<ReturnType<typeof startCluster>>;
let target: Target;
beforeAll(async () => {
  cluster = await startCluster();
  target = await openTargetAt(cluster.url);
});
afterAll(() => target?.close());

test('cluster: slots are counted as the servers count them', async () => {
  const keys = [stockKey('001'), 'a', '', 'ä{ö}ü', 'a{b{c}d}', '{a', '}{a}', stockKey('X_-')];
  const named = await Promise.all(keys.map((key) => cluster.masters[0]?.client.call('CLUSTER', 'KEYSLOT', key)));

  expect(keys.map(clusterSlotOf)).toEqual(named);
});

/** Every word of every command that a server of the Cluster is given, those of scripts included. */
async function listenIn() {
  const words = new Set<string>();
  const sockets = cluster.masters.map(({ port }) => connect(port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.write('MONITOR\r\n');
    await once(socket, 'readable');
    createInterface({ input: socket }).on('line', (line) => {
      // It names a pattern, and no key.
      if (/"scan"/i.test(line)) return;
      for (const [, word = ''] of line.matchAll(/"([^"]*)"/g)) words.add(word);
    });
  }
  return { words, stop: () => sockets.forEach((socket) => void socket.destroy()) };
}

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
});

test('cluster: a basket whose skus live on different servers is sold from both sides, and none is lost', async () => {
  const skus = ['001', '002', '003'];
  const owners = await Promise.all(skus.map((sku) => cluster.ownerOf(stockKey(sku))));
  expect(new Set(owners.map(({ port }) => port)).size).toBeGreaterThan(1);
  const [node, other] = target.nodes as [Target['nodes'][number], Target['nodes'][number]];
  for (const each of target.nodes) await each.setLock('multi');
  for (const sku of skus) await node.setStock(100, sku);

  const baskets = Array.from({ length: BUYERS }, (_, at) =>
    at % 2 === 0 ? sendBasket(target, node, skus).end : sendBasket(target, other, skus.toReversed()).end,
  );
  expect((await Promise.all(baskets)).filter(({ outcome }) => outcome !== 'sold')).toEqual([]);
  for (const sku of skus) {
    expect(await node.stock(sku)).toBe(100 - BUYERS);
    await node.clear(sku);
  }
});

test('cluster: what lies in buckets is gathered on every server when the lock is another one', async () => {
  const [node] = target.nodes as [Target['nodes'][number]];
  const skus = ['001', '002', '003'];
  await node.setLock('buckets');
  for (const sku of skus) await node.setStock(400, sku);

  await node.setLock('8-auto-renew');

  for (const sku of skus) {
    const { client } = await cluster.ownerOf(stockKey(sku));
    expect(await client.keys(`${stockKey(sku)}*`)).toEqual([stockKey(sku)]);
    expect(await node.stock(sku)).toBe(400);
    await node.clear(sku);
  }
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

  expect(await owner.client.publish(channel, 'at home')).toBe(1);
  await until('it was heard', () => heard.includes('at home'));
  stop();
  await until('nobody listens', async () => (await listeners()) === 0);
});

test('cluster: a payment is delivered, taken over and put aside, all in one slot', async () => {
  const client = connectRedis(cluster.url, {});
  onTestFinished(() => client.disconnect());
  onTestFinished(async () => void (await client.del(paymentsKey, refusedKey)));
  const [one, other] = [openStream(client, 'one'), openStream(client, 'other')];
  const id = String(await client.xadd(paymentsKey, '*', 'key', 'value'));
  const message = { id, deliveries: 1, fields: { key: 'value' } };
  await one.makeGroup();

  expect(await one.readNew(10)).toEqual(message);
  expect(await other.claimIdle(60_000)).toBeUndefined();
  expect(await other.claimIdle(0)).toEqual({ ...message, deliveries: 2 });
  await other.putAside(message, 'why not');
  expect(await other.claimIdle(0)).toBeUndefined();
  const [[, refused] = []] = await client.xrange(refusedKey, '-', '+');
  expect(refused).toEqual(['key', 'value', 'id', id, 'why', 'why not']);
});

test('cluster: while a master is away every sale is refused within a second, and sales are made again when it is back', async () => {
  const owner = await cluster.ownerOf(stockKey('001'));
  const [node] = target.nodes;
  for (const each of target.nodes) await each.setLock('8-auto-renew', { leaseMs: 1_000 });
  await node?.setStock(STOCK);
  const { purchases, hasSoldSince, stop } = startBuyers([`${target.url}/inventory/sale`], BUYERS);
  await until('they sell', () => hasSoldSince(0));
  await owner.kill();
  await sleep(AWAY_MS);
  await owner.start();
  await until('the Cluster is whole', cluster.isWhole);
  const backAt = performance.now();
  await until('they sell', () => hasSoldSince(backAt));
  await stop();

  const { refusals, slowestMs, isEachOnce, explains } = accountOf(purchases);
  expect(refusals).toEqual(['503 STORE_UNAVAILABLE']);
  expect(slowestMs).toBeLessThan(1_000);
  // Nothing lands late: every unit is accounted for.
  expect(isEachOnce).toBe(true);
  expect(explains(STOCK - Number(await node?.stock()))).toBe(true);
});
