import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type MysqlServer, openMysql } from '../../../scripts/stack/mysql.ts';
import { makeTempDir, type Part } from '../../../scripts/stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { standStill } from '../../locks/beyond/own-mysql.ts';
import { expectProblem, startNode, startRedis, type TestNode, type TestRedis, until } from './node-under-test.ts';

const locks = ['mysql-lock-table', 'mysql-named'];
const sales = ['mysql-pessimistic', 'mysql-optimistic', 'mysql-conditional'];

let redis: TestRedis;
let mysql: MysqlServer;
let url: string;
let part: Part;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  [redis, mysql] = await Promise.all([startRedis(), openMysql(undefined, temp)]);
  part = mysql.part as Part;
  cleanUpLater(() => part.stop());
  url = await mysql.database('lockstep');
  [node, other] = await Promise.all([startSeller(), startSeller()]);
});

function startSeller(env: NodeJS.ProcessEnv = {}) {
  return startNode(redis.url, { LOCK_VERSION: 'mysql', MYSQL_URL: url, ORDERS: 'off', ...env });
}

async function setLock(version: string, ...nodes: TestNode[]) {
  for (const each of nodes) expect((await each.lab('PUT', '/lock-version', { version })).status).toBe(200);
}

/** Starts a sale, and resolves when it is held inside until resumed. */
async function sellInside(seller: TestNode, sku: string) {
  const before = (await seller.events()).length;
  await seller.lab('PUT', '/next-sale', { untilResumed: true });
  const answer = seller.sell(sku);
  await until('it is inside', async () => (await seller.events()).slice(before).some(({ type }) => type === 'read'));
  return { answer, resume: () => seller.lab('PUT', '/resume') };
}

test('the backend mysql stands for the lock in a table', async () => {
  expect((await node.state()).lock).toBe('mysql-lock-table');
});

describe.each([...locks, ...sales])('%s', (lock) => {
  test('two nodes sell 4 units to 6 buyers, each unit once', async () => {
    await setLock(lock, node, other);
    await node.lab('PUT', '/stock', { sku: lock, stock: 4 });

    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => (n % 2 ? node : other).sell(lock)));

    const sold = answers.filter(({ status }) => status === 200).map(({ body }) => Number(body.stockBefore));
    expect(sold.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 4 }, (_, n) => n + 1));
    expect(answers.filter(({ body }) => body.code === 'OUT_OF_STOCK')).toHaveLength(2);
    expect((await other.get(`/inventory?sku=${lock}`)).body).toEqual({ sku: lock, remaining: 0 });
  });

  test('its stock is where it sells from, and an unknown sku is not found', async () => {
    await setLock(lock, node);
    await node.lab('PUT', '/stock', { sku: 'where', stock: 3 });

    expect(await redis.client.exists('{inventorywhere}:stock')).toBe(locks.includes(lock) ? 1 : 0);
    expect((await node.get('/inventory?sku=where')).body).toEqual({ sku: 'where', remaining: 3 });
    await node.lab('DELETE', '/stock?sku=where');

    expectProblem(await node.get('/inventory?sku=where'), 'NOT_FOUND');
    expectProblem(await node.sell('where'), 'NOT_FOUND');
  });
});

test.each([...locks, 'mysql-pessimistic'])('%s: a sale that waits for too long is answered', async (lock) => {
  const hasty = await startSeller({ WAIT_TIMEOUT_MS: '200', LOCK_VERSION: lock });
  await setLock(lock, node);
  await node.lab('PUT', '/stock', { sku: 'wait', stock: 10 });
  const { answer, resume } = await sellInside(node, 'wait');

  expectProblem(await hasty.sell('wait'), 'LOCK_WAIT_TIMEOUT');

  await resume();
  expect((await answer).body).toMatchObject({ outcome: 'sold' });
  expect((await node.sell('wait')).body).toMatchObject({ outcome: 'sold', stockBefore: 9 });
});

test('mysql-pessimistic: a sale that waits for too long has not entered, so it does not leave, and its wait is not measured', async () => {
  const hasty = await startSeller({ WAIT_TIMEOUT_MS: '200', LOCK_VERSION: 'mysql-pessimistic' });
  await setLock('mysql-pessimistic', node);
  await node.lab('PUT', '/stock', { sku: 'outside', stock: 10 });
  const { answer, resume } = await sellInside(node, 'outside');

  expectProblem(await hasty.sell('outside'), 'LOCK_WAIT_TIMEOUT');

  await resume();
  await answer;
  expect((await hasty.events()).map(({ type }) => type)).toEqual(['waiting', 'failed']);
  expect((await hasty.get('/metrics')).text).not.toMatch(/^lockstep_lock_(wait|hold)_seconds_count/m);
  // An unknown sku has no row, so nobody enters.
  expectProblem(await hasty.sell('unknown'), 'NOT_FOUND');
  expect((await hasty.events()).map(({ type }) => type)).not.toContain('left');
});

test('mysql-optimistic: a script is for so many sales, however often the write of one is refused', async () => {
  await setLock('mysql-optimistic', node, other);
  await node.lab('PUT', '/stock', { sku: 'times', stock: 10 });
  await node.lab('DELETE', '/history');
  await node.lab('PUT', '/next-sale', { untilResumed: true, times: 2 });
  const count = async (type: string) => (await node.events()).filter((event) => event.type === type).length;

  const first = node.sell('times');
  await until('the first sale is held', async () => (await count('read')) === 1);
  expect((await other.sell('times')).status).toBe(200);
  await node.lab('PUT', '/resume');
  // Its write is refused. It reads again, and has had its script.
  expect((await first).body).toMatchObject({ outcome: 'sold', stockBefore: 9 });
  expect(await count('conflict')).toBe(1);

  const second = node.sell('times');
  await until('the second sale has read', async () => (await count('read')) === 3);
  expect(await node.state()).toMatchObject({ inFlight: 1, counts: { sold: 1 } });
  await node.lab('PUT', '/resume');
  expect((await second).body).toMatchObject({ outcome: 'sold', stockBefore: 8 });
  expect((await node.sell('times')).body).toMatchObject({ outcome: 'sold', stockBefore: 7 });
});

test.each(['mysql-lock-table', 'mysql-pessimistic', 'mysql-conditional'])(
  '%s: MySQL stands still: answered, and sells when it runs again',
  async (lock) => {
    await setLock(lock, node);
    await node.lab('PUT', '/stock', { sku: 'frozen', stock: 10 });
    await node.sell('frozen');
    onTestFinished(() => part.signal('SIGCONT'));
    await standStill(mysql.url, part);

    const answer = await node.sell('frozen');
    part.signal('SIGCONT');

    // Only the one statement of mysql-conditional may have been done all the same.
    expectProblem(answer, 'STORE_UNAVAILABLE', {
      definite: lock !== 'mysql-conditional',
      detail: /^MySQL did not answer/,
    });
    await until('it sells', async () => (await node.sell('frozen')).status === 200);
  },
);

test('mysql-lock-table: MySQL is killed: the holder stops before its write, and all sell when it is back', async () => {
  await setLock('mysql-lock-table', node, other);
  await node.lab('PUT', '/stock', { sku: 'killed', stock: 10 });
  const before = (await node.events()).length;
  const { answer, resume } = await sellInside(node, 'killed');
  const waiting = other.sell('killed');
  await until('it waits', async () => (await other.state()).waiting === 1);

  await kill();
  expectProblem(await waiting, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
  await until('it has noticed', async () =>
    (await node.events()).slice(before).some(({ type }) => type === 'lease-lost'),
  );
  await resume();
  expectProblem(await answer, 'LOCK_NOT_HELD', { definite: true });
  expect(await redis.client.get('{inventorykilled}:stock')).toBe('10');
  expectProblem(await other.sell('killed'), 'STORE_UNAVAILABLE', { definite: true });
  await comeBack();

  expect((await other.sell('killed')).body).toMatchObject({ outcome: 'sold', stockBefore: 10 });
});

test('mysql-pessimistic: MySQL is killed: nothing is written, and what was committed is there when it is back', async () => {
  await setLock('mysql-pessimistic', node, other);
  await node.lab('PUT', '/stock', { sku: 'killed', stock: 10 });
  await other.sell('killed');
  const { answer, resume } = await sellInside(node, 'killed');

  await kill();
  await resume();
  expectProblem(await answer, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
  expectProblem(await other.get('/inventory?sku=killed'), 'STORE_UNAVAILABLE', { detail: /^MySQL/ });
  await comeBack();

  expect((await other.sell('killed')).body).toMatchObject({ outcome: 'sold', stockBefore: 9 });
});

test('a node that starts while MySQL is away sells when it comes', async () => {
  await kill();
  const early = await startSeller({ LOCK_VERSION: 'mysql-conditional' });
  expectProblem(await early.lab('PUT', '/stock', { sku: 'early', stock: 5 }), 'STORE_UNAVAILABLE');
  expectProblem(await early.sell('early'), 'STORE_UNAVAILABLE', { definite: true });

  await comeBack();

  expect((await early.lab('PUT', '/stock', { sku: 'early', stock: 5 })).status).toBe(200);
  expect((await early.sell('early')).body).toMatchObject({ outcome: 'sold', stockBefore: 5 });
});

test('a node that stops lets its sales end, and ends', async () => {
  const leaving = await startSeller({ LOCK_VERSION: 'mysql-pessimistic' });
  await leaving.lab('PUT', '/stock', { sku: 'leaving', stock: 5 });
  const { answer } = await sellInside(leaving, 'leaving');

  // A stopping node resumes its sales.
  await leaving.part.stop();

  expect((await answer).body).toMatchObject({ outcome: 'sold' });
  expect(leaving.lines.at(-1)).toContain('"stopped"');
});

test('a lock that needs MySQL is refused by a node that was started without', async () => {
  const without = await startNode(redis.url);

  for (const version of [...locks, ...sales]) {
    expectProblem(await without.lab('PUT', '/lock-version', { version }), 'BAD_REQUEST', { detail: /MYSQL_URL/ });
  }
});

test('no node has logged a bug or a warning', () => {
  for (const { lines } of [node, other]) expect(lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
});

async function kill() {
  part.signal('SIGKILL');
  await part.ended;
}

async function comeBack() {
  part = (await mysql.startAgain?.()) as Part;
}
