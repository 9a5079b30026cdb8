import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeTempDir, type Part } from '../../../scripts/stack/parts.ts';
import { openZookeeper, type ZookeeperServer } from '../../../scripts/stack/zookeeper.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { expectProblem, startNode, startRedis, type TestNode, type TestRedis, until } from './node-under-test.ts';

let redis: TestRedis;
let zookeeper: ZookeeperServer;
let part: Part;
let node: TestNode;
let other: TestNode;
const stockOf = (sku: string) => redis.client.get(`{inventory${sku}}:stock`);

beforeAll(async () => {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  redis = await startRedis();
  zookeeper = await openZookeeper(undefined, temp);
  part = zookeeper.part as Part;
  cleanUpLater(() => part.stop());
  [node, other] = await Promise.all([startSeller(), startSeller()]);
});

function startSeller(env: NodeJS.ProcessEnv = {}) {
  return startNode(redis.url, { LOCK_VERSION: 'zookeeper', ZOOKEEPER_URL: zookeeper.url, ...env });
}

/** Starts a sale, and resolves when it is held inside until resumed. */
async function sellInside(seller: TestNode, sku: string) {
  await redis.client.set(`{inventory${sku}}:stock`, 10);
  const before = (await seller.events()).length;
  await seller.lab('PUT', '/next-sale', { untilResumed: true });
  const answer = seller.sell(sku);
  await until('it is inside', async () => (await seller.events()).slice(before).some(({ type }) => type === 'read'));
  return { answer, resume: () => seller.lab('PUT', '/resume') };
}

/** Resolves when the node has noticed that it lost a lock. */
function untilLost(seller: TestNode) {
  return until('it has noticed', async () => (await seller.events()).some(({ type }) => type === 'lease-lost'));
}

test('two nodes sell in turns, and none of it is lost', async () => {
  await redis.client.set('{inventoryturns}:stock', 100);

  const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => (index % 2 ? node : other).sell('turns')));

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await stockOf('turns')).toBe('94');
  expect(await redis.client.keys('{inventoryturns}:lock:*')).toEqual([]);
});

test('a sale that waits for too long is answered, and leaves the queue', async () => {
  const hasty = await startSeller({ WAIT_TIMEOUT_MS: '200' });
  const { answer, resume } = await sellInside(node, 'wait');

  expectProblem(await hasty.sell('wait'), 'LOCK_WAIT_TIMEOUT');

  await resume();
  expect((await answer).body).toMatchObject({ outcome: 'sold' });
  expect((await other.sell('wait')).body).toMatchObject({ outcome: 'sold', stockBefore: 9 });
});

test('a process that is stopped and wakes up late does not undo the sales made meanwhile', async () => {
  const paused = await startSeller({ LEASE_MS: '500' });
  const { answer, resume } = await sellInside(paused, 'paused');

  paused.signal('SIGSTOP');
  expect((await other.sell('paused')).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  paused.signal('SIGCONT');
  await resume();

  // It may notice before it writes; if it does not, the stock refuses its token.
  const { body } = await answer;
  expect(['LOCK_NOT_HELD', 'STALE_TOKEN']).toContain(body.code);
  expect(body).toMatchObject({ definite: true });
  expect(await stockOf('paused')).toBe('9');
});

test('another lease takes another session, which the server ends after that time', async () => {
  await node.lab('PUT', '/lock-version', { version: 'zookeeper', leaseMs: 600 });
  onTestFinished(async () => void (await node.lab('PUT', '/lock-version', { version: 'zookeeper' })));
  const { answer, resume } = await sellInside(node, 'lease');

  node.signal('SIGSTOP');
  const taken = await other.sell('lease').finally(() => node.signal('SIGCONT'));

  // Not LOCK_WAIT_TIMEOUT: a lease of this node's own settings would outlast the wait.
  expect(taken.body).toMatchObject({ outcome: 'sold' });
  await resume();
  await answer;
});

test('a node that stops closes its session, and its place in the queue is free before its lease has ended', async () => {
  const leaving = await startSeller({ LEASE_MS: '60000' });
  const { answer } = await sellInside(leaving, 'leaving');

  // A stopping node resumes its sales.
  await leaving.part.stop();
  expect((await answer).body).toMatchObject({ outcome: 'sold' });

  // Its lease would outlast the wait.
  expect((await other.sell('leaving')).body).toMatchObject({ outcome: 'sold' });
  expect(leaving.lines.at(-1)).toContain('"stopped"');
});

test('Redis is killed: a sale that waits for the lock is answered, definite, though the lock is not free', async () => {
  const { answer, resume } = await sellInside(node, 'away');
  const waiter = other.sell('away');
  await until('it waits', async () => (await other.state()).waiting === 1);
  onTestFinished(async () => {
    await redis.comeBack();
    await until('both reach Redis', async () =>
      (await Promise.all([node, other].map((each) => each.get('/readyz')))).every(({ status }) => status === 200),
    );
  });

  await redis.kill();

  expectProblem(await waiter, 'STORE_UNAVAILABLE', { detail: /^Redis went away while the sale waited/ });
  await resume();
  expectProblem(await answer, 'STORE_UNAVAILABLE');
});

test('ZooKeeper stands still: the sale is answered, definite, and both sell when it runs again', async () => {
  onTestFinished(() => part.signal('SIGCONT'));
  await redis.client.set('{inventoryfrozen}:stock', 10);
  await node.sell('frozen');
  part.signal('SIGSTOP');

  for (const seller of [node, node, other]) {
    expectProblem(await seller.sell('frozen'), 'STORE_UNAVAILABLE', { definite: true, detail: /^ZooKeeper .* before/ });
  }
  part.signal('SIGCONT');

  await until('both sell', async () => {
    const answers = await Promise.all([node.sell('frozen'), other.sell('frozen')]);
    return answers.every(({ status }) => status === 200);
  });
});

test('ZooKeeper is killed: the holder stops before its write, waiters are answered, and all sell when it is back', async () => {
  await node.lab('DELETE', '/history');
  const { answer, resume } = await sellInside(node, 'killed');
  const waiting = other.sell('killed');
  await until('it waits', async () => (await other.state()).waiting === 1);

  part.signal('SIGKILL');
  await part.ended;
  expectProblem(await waiting, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
  await untilLost(node);
  await resume();
  expectProblem(await answer, 'LOCK_NOT_HELD', { definite: true });
  expect(await stockOf('killed')).toBe('10');
  part = (await zookeeper.startAgain?.()) as Part;

  await until('it sells', async () => (await other.sell('killed')).status === 200);
});

test('a lock that needs ZooKeeper is refused by a node that was started without', async () => {
  const without = await startNode(redis.url);

  expectProblem(await without.lab('PUT', '/lock-version', { version: 'zookeeper' }), 'BAD_REQUEST', {
    detail: /ZOOKEEPER_URL/,
  });
});

test('no node has logged a bug or a warning', () => {
  for (const { lines } of [node, other]) expect(lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
});
