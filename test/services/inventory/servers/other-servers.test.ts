import { beforeAll, expect, test } from 'vitest';
import { type Link, openLink } from '../../../../stack/proxy/link.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { type SharedRedis, sharedMysql, sharedRedis, sharedZookeeper } from '../../../own-stack.ts';
import {
  expectProblem,
  linesBesideOutages,
  outagesTold,
  startHeldSale,
  startNode,
  type TestNode,
  until,
} from '../node-under-test.ts';

let redis: SharedRedis;
/** Both nodes reach the servers by them. */
let links: Record<'MySQL' | 'ZooKeeper', Link>;
let master: Link;
let zookeeper: NodeJS.ProcessEnv;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  const [itsRedis, mysql] = await Promise.all([sharedRedis(), sharedMysql()]);
  redis = itsRedis;
  const urls = [await mysql.database('lockstep'), `zookeeper://${await sharedZookeeper()}`];
  const [MySQL, ZooKeeper] = await Promise.all(urls.map(openLink));
  links = { MySQL, ZooKeeper } as typeof links;
  master = await openLink(`${redis.url}/1`);
  for (const { close } of [master, ...Object.values(links)]) cleanUpLater(close);
  const masters = [master.url, `${redis.url}/2`, `${redis.url}/3`];
  zookeeper = { LOCK_VERSION: 'zookeeper', ZOOKEEPER_URL: links.ZooKeeper.url.replace('zookeeper://', '') };
  const env = {
    ...zookeeper,
    LOCK_VERSION: 'mysql',
    MYSQL_URL: links.MySQL.url,
    REDLOCK_URLS: masters.join(),
    ORDERS: 'off',
  };
  [node, other] = await Promise.all([startNode(redis.url, env), startNode(redis.url, env)]);
});

/** Both nodes sell under the lock, with a stock of 10, and have no history. */
async function prepare(version: string, sku: string, timing: { leaseMs?: number } = {}) {
  for (const each of [node, other]) {
    expect((await each.lab('PUT', '/lock-version', { version, ...timing })).status).toBe(200);
    await each.lab('DELETE', '/history');
  }
  await node.lab('PUT', '/stock', { sku, stock: 10 });
}

const typesOf = async (of: TestNode) => (await of.events()).map(({ type }) => type);

test.each([
  ['mysql-lock-table', 1],
  ['mysql-named', 1],
  ['mysql-pessimistic', 0],
  ['mysql-optimistic', 0],
  ['mysql-conditional', 0],
])('%s: two nodes sell 4 units to 6 buyers, each unit once, from the stock that it has', async (lock, inRedis) => {
  await prepare(lock, lock);
  await node.lab('PUT', '/stock', { sku: lock, stock: 4 });

  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => (n % 2 ? node : other).sell(lock)));

  const sold = answers.filter(({ status }) => status === 200).map(({ body }) => Number(body.stockBefore));
  expect(sold.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
  expect(answers.filter(({ body }) => body.code === 'OUT_OF_STOCK')).toHaveLength(2);
  expect((await other.get(`/inventory?sku=${lock}`)).body).toEqual({ sku: lock, remaining: 0 });
  expect(await redis.client.exists(`{inventory${lock}}:stock`)).toBe(inRedis);
  await node.lab('DELETE', `/stock?sku=${lock}`);
  expectProblem(await node.get(`/inventory?sku=${lock}`), 'NOT_FOUND');
  expectProblem(await node.sell(lock), 'NOT_FOUND');
});

test.each(['mysql-lock-table', 'mysql-pessimistic'])(
  '%s: a sale that waits for too long is answered, has not entered, and is not measured',
  async (lock) => {
    const measured = async () =>
      (await other.get('/metrics')).text.match(/^lockstep_lock_(wait|hold)_seconds_count.*/gm);
    await prepare(lock, 'wait');
    await other.lab('PUT', '/lock-version', { version: lock, waitTimeoutMs: 200 });
    const { answer, resume } = await startHeldSale(node, 'wait');
    const before = await measured();

    expectProblem(await other.sell('wait'), 'LOCK_WAIT_TIMEOUT');

    await resume();
    expect((await answer).body).toMatchObject({ outcome: 'sold' });
    expect(await typesOf(other)).toEqual(['waiting', 'failed']);
    expect(await measured()).toEqual(before);
    expect((await node.sell('wait')).body).toMatchObject({ outcome: 'sold', stockBefore: 9 });
  },
);

test.each([
  ['mysql-lock-table', 'MySQL', true],
  // Only its one statement may have been done all the same.
  ['mysql-conditional', 'MySQL', false],
  ['zookeeper', 'ZooKeeper', true],
] as const)(
  '%s: %s does not answer: the sale is answered, and all sell when it does',
  async (lock, server, definite) => {
    await prepare(lock, 'frozen');
    await node.sell('frozen');
    const before = outagesTold(node, server);
    links[server].cut('silent');

    const answer = await node.sell('frozen');
    await until('it is told', () => outagesTold(node, server).at(-1) === 'unavailable');
    links[server].restore();

    expectProblem(answer, 'STORE_UNAVAILABLE', { definite, detail: new RegExp(`^${server} did not reply`) });
    for (const each of [node, other]) await until('it sells', async () => (await each.sell('frozen')).status === 200);
    await until('its end is told', () => outagesTold(node, server).at(-1) === 'back');
    expect(outagesTold(node, server)).toEqual([...before, 'unavailable', 'back']);
  },
);

test('mysql-conditional: MySQL stands still: all who look at the stock, or sell, are answered, though two can ask at a time', async () => {
  const sku = 'looked-at';
  await prepare('mysql-conditional', sku);
  const look = () => node.get(`/inventory?sku=${sku}`);
  const forty = <T>(act: () => Promise<T>) => Promise.all(Array.from({ length: 40 }, act));
  // All connections are there, and free.
  await forty(look);
  const before = outagesTold(node, 'MySQL');
  links.MySQL.cut('silent');

  const answers = await Promise.all([forty(look), forty(() => node.sell(sku))]);
  await until('it is told', () => outagesTold(node, 'MySQL').at(-1) === 'unavailable');

  // Who comes later meets none of those that were answered.
  for (const answer of [...answers.flat(), ...(await forty(look))]) {
    const { definite } = answer.body as { definite: boolean };
    expectProblem(answer, 'STORE_UNAVAILABLE', { definite, detail: /^MySQL (does|did) not reply/ });
  }
  links.MySQL.restore();
  for (const { status } of await forty(look)) expect(status).toBe(200);
  await until('its end is told', () => outagesTold(node, 'MySQL').at(-1) === 'back');
  expect(outagesTold(node, 'MySQL')).toEqual([...before, 'unavailable', 'back']);
});

test('redlock: a master stands still: the others vote, and it is told that it is away, and back', async () => {
  await prepare('redlock', 'vote');
  const told = () =>
    node.lines.flatMap((line) => /"Redis master (\S+) is (unavailable|back)"/.exec(line)?.slice(1) ?? []);
  await node.sell('vote');
  master.cut('silent');

  expect((await node.sell('vote')).body).toMatchObject({ outcome: 'sold' });
  await until('it is told', () => told().length > 0);
  master.restore();

  await until('its end is told', () => told().at(-1) === 'back');
  const host = `127.0.0.1:${master.port}`;
  expect(told()).toEqual([host, 'unavailable', host, 'back']);
});

test.each([
  ['mysql-lock-table', 'MySQL'],
  ['zookeeper', 'ZooKeeper'],
] as const)(
  '%s: %s goes away: the holder stops before its write, waiters are answered, and all sell when it is back',
  async (lock, server) => {
    const sku = `killed-${lock}`;
    await prepare(lock, sku, { leaseMs: 2_000 });
    const { answer, resume } = await startHeldSale(node, sku);
    const waiting = other.sell(sku);
    await until('it waits', async () => (await other.state()).waiting === 1);

    links[server].cut();
    expectProblem(await waiting, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
    await until('it has noticed', async () => (await typesOf(node)).includes('lease-lost'));
    await resume();
    expectProblem(await answer, 'LOCK_NOT_HELD', { definite: true });
    expect(await redis.client.get(`{inventory${sku}}:stock`)).toBe('10');
    await until('it is told', () => outagesTold(node, server).at(-1) === 'unavailable');
    links[server].restore();
    await until('its end is told', () => outagesTold(node, server).at(-1) === 'back');

    await until('it sells', async () => (await other.sell(sku)).status === 200);
  },
);

test('zookeeper: another lease takes another session, which the server ends after that time: who wakes up late undoes no sale', async () => {
  await prepare('zookeeper', 'lease');
  const paused = await startNode(redis.url, zookeeper);
  await paused.lab('PUT', '/lock-version', { version: 'zookeeper', leaseMs: 600 });
  const { answer, resume } = await startHeldSale(paused, 'lease');

  paused.signal('SIGSTOP');
  // Not LOCK_WAIT_TIMEOUT: a lease of the node's own settings would outlast the wait.
  expect((await other.sell('lease')).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  paused.signal('SIGCONT');
  await resume();

  // It may notice before it writes; if it does not, the stock refuses its token.
  const { body } = await answer;
  expect(['LOCK_NOT_HELD', 'STALE_TOKEN']).toContain(body.code);
  expect(body).toMatchObject({ definite: true });
  expect(await redis.client.get('{inventorylease}:stock')).toBe('9');
});

test('zookeeper: a node that stops closes its session, and its place in the queue is free before its lease has ended', async () => {
  await prepare('zookeeper', 'leaving');
  const leaving = await startNode(redis.url, { ...zookeeper, LEASE_MS: '60000' });
  const { answer } = await startHeldSale(leaving, 'leaving');

  // A stopping node resumes its sales.
  await leaving.part.stop();
  expect((await answer).body).toMatchObject({ outcome: 'sold' });

  // Its lease would outlast the wait.
  expect((await other.sell('leaving')).body).toMatchObject({ outcome: 'sold' });
  expect(leaving.lines.at(-1)).toContain('"stopped"');
});

test('no node has logged a bug or a warning beside each outage, which has a line at its beginning and one at its end', () => {
  for (const each of [node, other]) expect(linesBesideOutages(each)).toEqual([]);
});
