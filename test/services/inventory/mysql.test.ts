import { beforeAll, describe, expect, test } from 'vitest';
import { type Link, openLink } from '../../../scripts/link/link.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { type SharedRedis, sharedMysql, sharedRedis } from '../../stack.ts';
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
/** Both nodes reach MySQL by it. */
let link: Link;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  const [itsRedis, mysql] = await Promise.all([sharedRedis(), sharedMysql()]);
  redis = itsRedis;
  link = await openLink(await mysql.database('lockstep'));
  cleanUpLater(link.close);
  const env = { LOCK_VERSION: 'mysql', MYSQL_URL: link.url, ORDERS: 'off' };
  [node, other] = await Promise.all([startNode(redis.url, env), startNode(redis.url, env)]);
});

/** Both nodes sell under the lock, with a stock of 10, and have no history. */
async function prepare(version: string, sku: string, timing: { waitTimeoutMs?: number } = {}) {
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

describe('MySQL goes away and comes back', () => {
  test.each([
    ['mysql-lock-table', true],
    // Only its one statement may have been done all the same.
    ['mysql-conditional', false],
  ])('%s: it does not answer: the sale is answered, and all sell when it does', async (lock, definite) => {
    await prepare(lock, 'frozen');
    await node.sell('frozen');
    link.cut('silent');

    const answer = await node.sell('frozen');
    link.restore();

    expectProblem(answer, 'STORE_UNAVAILABLE', { definite, detail: /^MySQL did not answer/ });
    await until('it sells', async () => (await node.sell('frozen')).status === 200);
  });

  test('mysql-lock-table: the holder stops before its write, and all sell when it is back', async () => {
    await prepare('mysql-lock-table', 'killed');
    const { answer, resume } = await startHeldSale(node, 'killed');
    const waiting = other.sell('killed');
    await until('it waits', async () => (await other.state()).waiting === 1);

    link.cut();
    expectProblem(await waiting, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
    await until('it has noticed', async () => (await typesOf(node)).includes('lease-lost'));
    await resume();
    expectProblem(await answer, 'LOCK_NOT_HELD', { definite: true });
    expect(await redis.client.get('{inventorykilled}:stock')).toBe('10');
    await until('it is told', () => outagesTold(node).at(-1) === 'away');
    link.restore();
    await until('its end is told', () => outagesTold(node).at(-1) === 'back');

    expect((await other.sell('killed')).body).toMatchObject({ outcome: 'sold', stockBefore: 10 });
  });
});

test('no node has logged a bug or a warning beside each outage, which has a line at its beginning and one at its end', () => {
  for (const each of [node, other]) expect(linesBesideOutages(each)).toEqual([]);
});
