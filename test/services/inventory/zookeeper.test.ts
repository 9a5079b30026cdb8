import { beforeAll, expect, test } from 'vitest';
import { type Link, openLink } from '../../../scripts/link/link.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { type SharedRedis, sharedRedis, sharedZookeeper } from '../../stack.ts';
import {
  expectProblem,
  linesBesideOutages,
  outagesTold,
  startHeldSale,
  startNode,
  type TestNode,
  until,
} from './node-under-test.ts';

let redis: SharedRedis;
/** Both nodes reach Redis and ZooKeeper by them. */
let toRedis: Link;
let toZookeeper: Link;
let env: NodeJS.ProcessEnv;
let node: TestNode;
let other: TestNode;
const stockOf = (sku: string) => redis.client.get(`{inventory${sku}}:stock`);

beforeAll(async () => {
  redis = await sharedRedis();
  toRedis = await openLink(redis.url);
  toZookeeper = await openLink(`zookeeper://${await sharedZookeeper()}`);
  for (const { close } of [toRedis, toZookeeper]) cleanUpLater(close);
  env = { LOCK_VERSION: 'zookeeper', ZOOKEEPER_URL: toZookeeper.url.replace('zookeeper://', '') };
  [node, other] = await Promise.all([startNode(toRedis.url, env), startNode(toRedis.url, env)]);
});

/** Starts a sale of 10 units on the node, and resolves when it is held inside until resumed. */
async function sellInside(seller: TestNode, sku: string) {
  await redis.client.set(`{inventory${sku}}:stock`, 10);
  return startHeldSale(seller, sku);
}

test('another lease takes another session, which the server ends after that time: who wakes up late undoes no sale', async () => {
  const paused = await startNode(redis.url, env);
  await paused.lab('PUT', '/lock-version', { version: 'zookeeper', leaseMs: 600 });
  const { answer, resume } = await sellInside(paused, 'lease');

  paused.signal('SIGSTOP');
  // Not LOCK_WAIT_TIMEOUT: a lease of the node's own settings would outlast the wait.
  expect((await other.sell('lease')).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  paused.signal('SIGCONT');
  await resume();

  // It may notice before it writes; if it does not, the stock refuses its token.
  const { body } = await answer;
  expect(['LOCK_NOT_HELD', 'STALE_TOKEN']).toContain(body.code);
  expect(body).toMatchObject({ definite: true });
  expect(await stockOf('lease')).toBe('9');
});

test('a node that stops closes its session, and its place in the queue is free before its lease has ended', async () => {
  const leaving = await startNode(redis.url, { ...env, LEASE_MS: '60000' });
  const { answer } = await sellInside(leaving, 'leaving');

  // A stopping node resumes its sales.
  await leaving.part.stop();
  expect((await answer).body).toMatchObject({ outcome: 'sold' });

  // Its lease would outlast the wait.
  expect((await other.sell('leaving')).body).toMatchObject({ outcome: 'sold' });
  expect(leaving.lines.at(-1)).toContain('"stopped"');
});

test('ZooKeeper does not answer: the sale is answered, definite, and both sell when it goes on', async () => {
  await redis.client.set('{inventoryfrozen}:stock', 10);
  await node.sell('frozen');
  toZookeeper.cut('silent');

  const answers = await Promise.all([node, other].map((each) => each.sell('frozen')));
  toZookeeper.restore();

  for (const answer of answers) {
    expectProblem(answer, 'STORE_UNAVAILABLE', { definite: true, detail: /^ZooKeeper .* before/ });
  }
  for (const each of [node, other]) await until('it sells', async () => (await each.sell('frozen')).status === 200);
});

test('ZooKeeper goes away: the holder stops before its write, waiters are answered, and all sell when it is back', async () => {
  await node.lab('PUT', '/lock-version', { version: 'zookeeper', leaseMs: 2_000 });
  const { answer, resume } = await sellInside(node, 'killed');
  const waiting = other.sell('killed');
  await until('it waits', async () => (await other.state()).waiting === 1);

  toZookeeper.cut();
  expectProblem(await waiting, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
  await until('it has noticed', async () => (await node.events()).some(({ type }) => type === 'lease-lost'));
  await resume();
  expectProblem(await answer, 'LOCK_NOT_HELD', { definite: true });
  expect(await stockOf('killed')).toBe('10');
  await until('it is told', () => outagesTold(node).at(-1) === 'away');
  toZookeeper.restore();
  await until('its end is told', () => outagesTold(node).at(-1) === 'back');

  await until('it sells', async () => (await other.sell('killed')).status === 200);
});

test('no node has logged a bug or a warning beside each outage, which has a line at its beginning and one at its end', () => {
  for (const each of [node, other]) expect(linesBesideOutages(each)).toEqual([]);
});
