// Every button of free play, and what it does: seen in the servers themselves, and not in what the page says of them.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Act } from '../../../../live/contract.ts';
import { type Board, openBoard } from '../../../../live/server/board.ts';
import { type FreePlay, openFreePlay } from '../../../../live/server/free-play.ts';
import { openLocalTarget, type Target, type TargetNode } from '../../../../loadtest/harness/target.ts';
import { MASTERS } from '../../../../scripts/stack/stack.ts';
import { stockKey } from '../../../../services/inventory/store.ts';
import { until } from '../../../services/inventory/node-under-test.ts';

/** Long enough for what is held on a line: what renews the lease is held with it. */
const LEASE_MS = 2_000;
/** How long somebody who stands still is waited for, in milliseconds. */
const SILENT_MS = 300;
/** How long one who answers may take to, on a machine that is busy, in milliseconds. */
const ANSWER_LIMIT_MS = 10_000;

let target: Target;
/** Redis itself, past the links of the nodes. */
let redis: Redis;
let board: Board;
let free: FreePlay;
const pressed = new Set<Act>();

/** Two nodes with their masters, and free play under this stage. */
function playUnder(stage: string) {
  beforeAll(async () => {
    board = openBoard({ target, stage, drill: null, onChange() {} });
    free = await openFreePlay({
      target: board.target,
      stage,
      parts: board.parts,
      observe: board.observe,
      leaseMs: LEASE_MS,
      narrate() {},
      onChange() {},
    });
  });
  afterEach(async () => {
    await free.undo();
    for (const node of target.nodes) {
      await until('nobody sells', async () => (await node.state()).inFlight === 0);
      await node.reset();
    }
  });
  afterAll(async () => {
    await free?.close();
    board?.close();
  });
}

async function press(act: Act, at?: string, count?: number) {
  pressed.add(act);
  await free.act({ act, at, count });
}

const nodeAt = (at: 0 | 1) => target.nodes[at] as TargetNode;

/** Asks a server on a connection of its own. Rejects when it does not answer in time. */
function newClient(url: string | undefined, limitMs = ANSWER_LIMIT_MS): Redis {
  const client = new Redis(url ?? '', {
    maxRetriesPerRequest: 0,
    commandTimeout: limitMs,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

const answers = (url: string | undefined, limitMs = ANSWER_LIMIT_MS) =>
  newClient(url, limitMs)
    .ping()
    .then(
      () => true,
      () => false,
    );
const redisUrl = () => target.stack?.redis.url;
const stock = async () => Number(await redis.get(stockKey('001')));
const isLocked = async () => (await redis.keys('*:lock:*')).length === 1;
/** What a node reads; undefined while its connections are led elsewhere. */
const stockAt = (node: TargetNode) => node.stock().catch(() => undefined);
const statusOfSale = async ({ publicUrl }: TargetNode) =>
  (await fetch(`${publicUrl}/inventory/sale`, { method: 'POST', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })).status;

beforeAll(async () => {
  target = await openLocalTarget({ forDrills: true, masters: MASTERS, env: { LOG_LEVEL: 'silent' } });
  redis = new Redis(redisUrl() ?? '');
  redis.on('error', () => {});
});
afterAll(async () => {
  redis.disconnect();
  await target.close();
  const all: Act[] = [...new Set(free.controls().map(({ act }) => act))];
  expect(all.filter((act) => !pressed.has(act))).toEqual([]);
});

describe('under 8-auto-renew', () => {
  playUnder('8-auto-renew');

  test('Sell: one unit of that node', async () => {
    const before = await stock();
    await press('sell', 'node-2');

    await until('it is sold', async () => (await stock()) === before - 1);
    await until('node-2 has sold it', async () => (await nodeAt(1).state()).counts.sold === 1);
  });

  test('Rush: so many units through nginx, of both nodes', async () => {
    const before = await stock();
    await press('rush', undefined, 40);

    await until('all are sold', async () => (await stock()) === before - 40);
    for (const at of [0, 1] as const) expect((await nodeAt(at).state()).counts.sold).toBeGreaterThan(0);
  });

  test('Hold a sale: it has the lock and has not written; pressed again it goes on', async () => {
    const before = await stock();
    await press('hold-sale', 'node-1');
    await until('it is held', async () => (await nodeAt(0).state()).held === 1);
    expect([await isLocked(), await stock()]).toEqual([true, before]);

    await press('hold-sale', 'node-1');
    await until('it has left', async () => !(await isLocked()));
    expect(await stock()).toBe(before - 1);
  });

  test('Hold a release: the unit is sold, and the lock is still taken', async () => {
    const before = await stock();
    await press('hold-release', 'node-1');
    await press('sell', 'node-1');
    await until('it has written', async () => (await stock()) === before - 1);
    await sleep(SILENT_MS);
    expect([await isLocked(), (await nodeAt(0).state()).inFlight]).toEqual([true, 1]);

    await press('hold-release', 'node-1');
    await until('the lock is free', async () => !(await isLocked()));
  });

  test('Hold a write: it is inside, and the stock does not change', async () => {
    const before = await stock();
    await press('hold-write', 'node-2');
    await press('sell', 'node-2');
    await until('it has read', async () => (await nodeAt(1).history()).events.some(({ type }) => type === 'read'));
    await sleep(SILENT_MS);
    expect([await isLocked(), await stock()]).toEqual([true, before]);

    await press('hold-write', 'node-2');
    await until('it has written', async () => (await stock()) === before - 1);
  });

  test('Stop: the node answers nothing until it goes on', async () => {
    await press('stop', 'node-1');
    expect(await nodeAt(0).isSilentFor(SILENT_MS)).toBe(true);
    expect(await nodeAt(1).isSilentFor(ANSWER_LIMIT_MS)).toBe(false);

    await press('stop', 'node-1');
    expect(await nodeAt(0).isSilentFor(ANSWER_LIMIT_MS)).toBe(false);
  });

  test('Kill: nobody listens there, and another process does when it is started', async () => {
    const { pid } = await nodeAt(0).state();
    await press('kill', 'node-1');
    expect(() => process.kill(pid, 0)).toThrow();
    await expect(statusOfSale(nodeAt(0))).rejects.toThrow();

    await press('kill', 'node-1');
    expect((await nodeAt(0).state()).pid).not.toBe(pid);
    expect(await statusOfSale(nodeAt(0))).toBe(200);
  });

  test('Cut off: that node can’t sell, and the other one can', async () => {
    await press('cut', 'node-1');
    expect([await statusOfSale(nodeAt(0)), await statusOfSale(nodeAt(1))]).toEqual([503, 200]);

    await press('cut', 'node-1');
    await until('it sells again', async () => (await statusOfSale(nodeAt(0))) === 200);
  });

  test('Block: its event loop answers nothing for two leases and more', async () => {
    await press('block', 'node-1');
    await until('it is silent', () => nodeAt(0).isSilentFor(SILENT_MS));
    await until('it answers again', async () => !(await nodeAt(0).isSilentFor(SILENT_MS)));
    expect(await stock()).toBeGreaterThan(0);
  });

  test('Redis: it stands still; it is dead; and it is there again with its stock', async ({ skip }) => {
    skip(target.lacks['redis process'] !== undefined, target.lacks['redis process']);
    const before = await stock();
    await press('stop', 'redis');
    expect(await answers(redisUrl(), SILENT_MS)).toBe(false);
    await press('stop', 'redis');
    expect(await answers(redisUrl())).toBe(true);
    if (target.stack?.redis.kind !== 'native') return;
    await press('kill', 'redis');
    expect(await answers(redisUrl())).toBe(false);
    await press('kill', 'redis');
    expect(await stock()).toBe(before);
  });

  test('the replica is cut off and takes over: it has not heard of the last sale', async ({ skip }) => {
    skip(target.lacks.replication !== undefined, target.lacks.replication);
    const before = await stock();
    await press('cut-replica', 'redis');
    expect(await statusOfSale(nodeAt(0))).toBe(200);
    await press('fail-over', 'redis');
    for (const node of target.nodes) await until('it uses the replica', async () => (await stockAt(node)) === before);
    expect(await stock()).toBe(before - 1);

    await free.undo();
    for (const node of target.nodes) await until('it is led back', async () => (await stockAt(node)) === before - 1);
  });
});

describe('under redlock', () => {
  playUnder('redlock');
  const master = (at: number) => target.stack?.masters[at]?.url;

  test('a master stands still until it goes on', async ({ skip }) => {
    skip(target.lacks['master processes'] !== undefined, target.lacks['master processes']);
    await press('stop', 'master-2');
    expect([await answers(master(0)), await answers(master(1), SILENT_MS)]).toEqual([true, false]);

    await press('stop', 'master-2');
    expect(await answers(master(1))).toBe(true);
  });

  test('Empty: a master forgets whose lock it is, and the others know', async ({ skip }) => {
    skip(target.lacks['master processes'] !== undefined, target.lacks['master processes']);
    const keysOf = (at: number) => newClient(master(at)).keys('*');
    await press('hold-sale', 'node-1');
    await until('it is held', async () => (await nodeAt(0).state()).held === 1);
    await until('all masters have voted', async () => (await keysOf(0)).length + (await keysOf(1)).length === 2);
    await press('empty', 'master-1');

    expect([(await keysOf(0)).length, (await keysOf(1)).length]).toEqual([0, 1]);
  });
});
