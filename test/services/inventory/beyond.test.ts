import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Link, openLink } from '../../../scripts/link/link.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { openReplica, untilCopied } from '../../../scripts/stack/redis.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { expectProblem, startHeldSale, startNode, type TestNode, until } from './node-under-test.ts';

let redis: SharedRedis;
/** `slow` reaches Redis by it. */
let link: Link;
let slow: TestNode;
let other: TestNode;
const stockOf = (sku: string) => redis.client.get(`{inventory${sku}}:stock`);

beforeAll(async () => {
  redis = await sharedRedis();
  link = await openLink(redis.url);
  cleanUpLater(link.close);
  [slow, other] = await Promise.all([startNode(link.url), startNode(redis.url)]);
});

async function setLock(version: string, timing: { leaseMs?: number } = {}) {
  for (const each of [slow, other]) {
    expect((await each.lab('PUT', '/lock-version', { version, ...timing })).status).toBe(200);
    await each.lab('DELETE', '/history');
  }
}

const typesOf = async (of: TestNode) => (await of.events()).map(({ type }) => type);

test('fenced: a sale ends before its write when it has noticed that it lost its lock, definite', async () => {
  await setLock('fenced', { leaseMs: 1_500 });
  await redis.client.set('{inventorynoticed}:stock', 10);
  const { answer, resume } = await startHeldSale(slow, 'noticed');

  await redis.client.del('{inventorynoticed}:lock:fenced');
  await until('it has noticed', async () => (await typesOf(slow)).includes('lease-lost'));
  await resume();

  expectProblem(await answer, 'LOCK_NOT_HELD', { definite: true });
  expect(await stockOf('noticed')).toBe('10');
});

describe('replicated: a replica must confirm', () => {
  test('without one a sale is refused, definite, and neither the stock nor the lock is touched', async () => {
    await setLock('replicated');
    await redis.client.set('{inventoryalone}:stock', 10);

    const refused = await other.sell('alone');

    expectProblem(refused, 'NOT_REPLICATED', { definite: true });
    expect(await stockOf('alone')).toBe('10');
    expect(await redis.client.keys('*lock:replicated*')).toEqual([]);
    expect(await typesOf(other)).toEqual(['waiting', 'failed']);
  });

  test('one that does not confirm the write leaves the sale in doubt, and the unit is gone', async () => {
    await setLock('replicated');
    const replica = await startReplicaOf(redis.url);
    await redis.client.set('{inventorydoubt}:stock', 10);
    const { answer, resume } = await startHeldSale(other, 'doubt');

    replica.signal('SIGSTOP');
    await resume();

    expectProblem(await answer, 'NOT_REPLICATED', { definite: false });
    expect(await stockOf('doubt')).toBe('9');
    expect(await typesOf(other)).toEqual(['waiting', 'entered', 'read', 'left', 'failed']);
    expect(await redis.client.keys('*lock:replicated*')).toEqual([]);
    replica.signal('SIGCONT');
  });
});

/** A replica for one test. */
async function startReplicaOf(redisUrl: string) {
  const temp = makeTempDir();
  const { url, part } = await openReplica(redisUrl, temp.dir);
  onTestFinished(async () => {
    await part?.stop();
    temp.remove();
  });
  await untilCopied({ primaryUrl: redisUrl, replicaUrl: url });
  return { signal: (name: NodeJS.Signals) => part?.signal(name) };
}

test('combine: a write for all who wait that is not answered leaves all in doubt, and the lock is given up', async () => {
  await setLock('combine');
  await redis.client.set('{inventoryunanswered}:stock', 100);
  await redis.client.hset('{inventoryunanswered}:lock:combine', 'somebody', 1);
  const sales = Array.from({ length: 3 }, () => slow.sell('unanswered'));
  await until('all wait', async () => (await slow.state()).waiting === 3);
  const write = link.holdNext('write-if-newest');
  await redis.client.del('{inventoryunanswered}:lock:combine');
  await write.arrived;

  link.cut();
  link.restore();

  for (const answer of await Promise.all(sales)) expectProblem(answer, 'STORE_UNAVAILABLE', { definite: false });
  expect((await slow.state()).counts).toMatchObject({ inDoubt: 3 });
  await until('the lock is free', async () => (await redis.client.exists('{inventoryunanswered}:lock:combine')) === 0);
  expect(await stockOf('unanswered')).toBe('100');
});
