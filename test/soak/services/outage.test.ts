import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeTempDir, startPart } from '../../../scripts/stack/parts.ts';
import { findOnPath } from '../../../scripts/stack/path.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { cleanUpLater } from '../../clean-up.ts';
import {
  expectProblem,
  sendRaw,
  startNode,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';

/** Longer than the time a node waits for an answer of Redis, so that it has given up and connects again and again. */
const AWAY_MS = 1000;

/** It looks after its clients once in 1024 keys, and takes 0.1 ms or more for each of them. */
const SMALL_KEYS = 12 * 1024;
/** A server whose loading can be slowed down. */
const redisProgram = findOnPath('redis-server', 'valkey-server');

let redis: TestRedis;
let nodes: TestNode[];

beforeAll(async () => {
  redis = await startRedis();
  nodes = await Promise.all([startNode(redis.url), startNode(redis.url)]);
});

beforeEach(async () => {
  // A test that failed may have left it away.
  await redis.comeBack();
  await redis.client.flushall();
  for (const each of nodes) await until('the node is ready', async () => (await each.get('/readyz')).status === 200);
});

const ways = [
  { way: 'Redis is killed and a new one starts', isKilled: true },
  { way: 'Redis freezes and runs again', isKilled: false },
];
const locks = ['3-spin', '5-owner-check', '8-auto-renew'];
const cases = ways.flatMap((way) => locks.map((lock) => ({ ...way, lock })));

async function takeAway(isKilled: boolean) {
  if (isKilled) await redis.kill();
  else redis.freeze();
}

async function setLock(lock: string) {
  for (const each of nodes) expect((await each.lab('PUT', '/lock-version', { version: lock })).status).toBe(200);
}

const stockKey = (sku: string) => `{inventory${sku}}:stock`;
const lockKeys = (sku: string) => redis.client.keys(`{inventory${sku}}:lock:*`);

interface Sale {
  node: TestNode;
  startedAt: number;
  endedAt: number;
  status: number;
  code: unknown;
  definite: unknown;
  stockBefore: unknown;
}

/** Buyers of both nodes, who buy again and again until they are stopped. */
function startBuyers(sku: string, perNode: number) {
  const sales: Sale[] = [];
  let isOver = false;
  const buyers = nodes.flatMap((from) =>
    Array.from({ length: perNode }, async () => {
      while (!isOver) {
        const startedAt = performance.now();
        const { status, body } = await from.sell(sku);
        const { code, definite, stockBefore } = body;
        sales.push({ node: from, startedAt, endedAt: performance.now(), status, code, definite, stockBefore });
        if (status !== 200) await sleep(20);
      }
    }),
  );
  return {
    sales,
    async stop() {
      isOver = true;
      await Promise.all(buyers);
    },
  };
}

/** Asks both nodes for what needs no Redis, again and again until it is ended, and resolves with how long the slowest answer took. */
function startBaseline() {
  let isOver = false;
  const slowest = nodes.map(async (each) => {
    let slowestMs = 0;
    while (!isOver) {
      const askedAt = performance.now();
      await each.get('/healthz');
      slowestMs = Math.max(slowestMs, performance.now() - askedAt);
      await sleep(20);
    }
    return slowestMs;
  });
  return async () => {
    isOver = true;
    return Math.max(...(await Promise.all(slowest)));
  };
}

describe('outage under load from two nodes', () => {
  test.each(cases)(
    '$lock, $way: every sale is answered within a second, and sales work again',
    async ({ lock, isKilled }) => {
      await setLock(lock);
      await redis.client.set(stockKey('rush'), 100_000);
      const { sales, stop } = startBuyers('rush', 15);
      const sellsSince = (since: number) => (each: TestNode) =>
        sales.find((sale) => sale.node === each && sale.status === 200 && sale.endedAt > since);
      await until('both nodes sell', () => nodes.every(sellsSince(0)) && sales.length > 100);

      const endBaseline = startBaseline();
      const awayAt = performance.now();
      await takeAway(isKilled);
      await sleep(AWAY_MS);
      await redis.comeBack();
      const backAt = performance.now();
      if (isKilled) await redis.client.set(stockKey('rush'), 100_000);
      await until('both nodes sell again', () => nodes.every(sellsSince(backAt)));
      const salesUntilBack = sales.length;
      await until('they sell on', () => sales.length > salesUntilBack + 100);
      await stop();
      const baselineMs = await endBaseline();

      const during = sales.filter(({ startedAt, endedAt }) => endedAt > awayAt && startedAt < backAt);
      const answerMs = Math.max(...during.map(({ startedAt, endedAt }) => endedAt - Math.max(startedAt, awayAt)));
      const againMs = nodes.map((each) => (sellsSince(backAt)(each)?.endedAt ?? Number.NaN) - backAt);
      expect(answerMs).toBeLessThan(1000 + baselineMs);
      expect(Math.max(...againMs)).toBeLessThan(1000 + baselineMs);
      // The new server has no stock at first. Stage 3 cannot tell its own lock from another's when it tidies up.
      const otherEndings = [...(isKilled ? ['NOT_FOUND'] : []), ...(lock === '3-spin' ? ['LOCK_NOT_HELD'] : [])];
      const failures = sales.filter(({ status }) => status !== 200);
      const codes = new Set(failures.map(({ code }) => String(code)));
      expect([...codes].filter((code) => !otherEndings.includes(code))).toEqual(['STORE_UNAVAILABLE']);
      await until('no lock is left', async () => (await lockKeys('rush')).length === 0);
      if (lock === '3-spin') return;
      // Nothing lands late: every unit is accounted for.
      const counted = isKilled ? sales.filter(({ endedAt }) => endedAt > backAt) : sales;
      const soldStocks = counted.filter(({ status }) => status === 200).map(({ stockBefore }) => stockBefore);
      const inDoubt = counted.filter(({ definite }) => definite === false).length;
      const drop = 100_000 - Number(await redis.client.get(stockKey('rush')));
      expect(new Set(soldStocks).size).toBe(soldStocks.length);
      expect(drop).toBeGreaterThanOrEqual(soldStocks.length);
      expect(drop).toBeLessThanOrEqual(soldStocks.length + inDoubt);
    },
  );
});

test.skipIf(!redisProgram)(
  'Redis is killed and reads its data for more than a second: sales flow as soon as it has, whatever it guessed',
  async () => {
    const slow = await startSlowRedis(redisProgram as string);
    const far = await startNode(slow.url);
    await slow.fill(stockKey('loaded'), 10_000);
    expect((await far.sell('loaded')).status).toBe(200);
    await slow.kill();
    expectProblem(await far.sell('loaded'), 'STORE_UNAVAILABLE');

    const endings: { status: number; at: number }[] = [];
    let isOver = false;
    const buyer = (async () => {
      while (!isOver) {
        endings.push({ status: (await far.sell('loaded')).status, at: performance.now() });
        await sleep(10);
      }
    })();
    const startedAt = performance.now();
    await slow.startAgain();
    const loadedAt = performance.now();
    const soldAt = () => endings.find(({ status }) => status === 200)?.at;
    await until('it sells again', () => soldAt() !== undefined, 20_000).finally(() => {
      isOver = true;
    });
    await buyer;

    // It loaded for so long that a guess was asked for, and nobody could buy meanwhile.
    expect(loadedAt - startedAt).toBeGreaterThan(1000);
    expect(endings.filter(({ status, at }) => status === 503 && at < loadedAt).length).toBeGreaterThan(10);
    expect((soldAt() as number) - loadedAt).toBeLessThan(500);
  },
);

/** A Redis that keeps its data, and reads it again after a restart so slowly that it answers LOADING for a while. */
async function startSlowRedis(program: string) {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  const port = await freePort();
  const kept = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'no', '--auto-aof-rewrite-percentage', '0'];
  const start = () =>
    startPart({
      name: 'redis',
      command: program,
      args: ['--port', String(port), '--bind', '127.0.0.1', '--dir', temp.dir, ...kept, '--key-load-delay', '100'],
      isReady: async () => (await sendRaw(port, 'PING\r\n', '\r\n')).startsWith('+PONG'),
    });
  let part = await start();
  cleanUpLater(() => part.stop());
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Sets the stock, thousands of small keys and a big one. Redis guesses by bytes, and so at first far too long. */
    async fill(key: string, stock: number) {
      const client = new Redis(port, '127.0.0.1');
      const small = client.pipeline().set(key, stock);
      for (let n = 0; n < SMALL_KEYS; n += 1) small.set(`small:${n}`, n);
      await small.exec();
      await client.set('big', Buffer.alloc(16_000_000));
      client.disconnect();
    },
    async kill() {
      part.signal('SIGKILL');
      await part.ended;
    },
    /** Resolves when it has read its data. */
    async startAgain() {
      part = await start();
    },
  };
}
