import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { openReplica, untilCopied } from '../../../scripts/stack/redis.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { expectProblem, startLink, startNode, type TestNode, until } from './node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;
let other: TestNode;
const stockOf = (sku: string) => redis.client.get(`{inventory${sku}}:stock`);

beforeAll(async () => {
  redis = await sharedRedis();
  [node, other] = await Promise.all([
    startNode(redis.url, { LOCK_VERSION: 'fenced' }),
    startNode(redis.url, { LOCK_VERSION: 'fenced' }),
  ]);
});

describe('fenced: a sale that lost its lock', () => {
  test('is refused by the stock, definite, when another has sold meanwhile', async () => {
    await redis.client.set('{inventorystale}:stock', 10);
    await node.lab('PUT', '/next-sale', { untilResumed: true });
    const late = node.sell('stale');
    await until('it is inside', async () => (await node.events()).some(({ type }) => type === 'read'));
    await redis.client.del('{inventorystale}:lock:fenced');
    expect((await other.sell('stale')).body).toMatchObject({ outcome: 'sold', remaining: 9 });

    await node.lab('PUT', '/resume');

    expectProblem(await late, 'STALE_TOKEN', { definite: true });
    expect(await stockOf('stale')).toBe('9');
    expect((await node.state()).counts).toMatchObject({ failed: 1, inDoubt: 0 });
    expect((await node.events()).map(({ type }) => type)).toEqual([
      'waiting',
      'entered',
      'read',
      'left',
      'lease-lost',
      'failed',
    ]);
  });

  test('ends before its write when it has noticed, definite', async () => {
    const hasty = await startNode(redis.url, { LOCK_VERSION: 'fenced', LEASE_MS: '1500' });
    await redis.client.set('{inventorynoticed}:stock', 10);
    await hasty.lab('PUT', '/next-sale', { untilResumed: true });
    const sale = hasty.sell('noticed');
    await until('it is inside', async () => (await hasty.events()).some(({ type }) => type === 'read'));

    await redis.client.del('{inventorynoticed}:lock:fenced');
    await until('it has noticed', async () => (await hasty.events()).some(({ type }) => type === 'lease-lost'));
    await hasty.lab('PUT', '/resume');

    expectProblem(await sale, 'LOCK_NOT_HELD', { definite: true });
    expect(await stockOf('noticed')).toBe('10');
  });
});

describe('a late command of a holder that lost its lock, while the next one is between its read and its write', () => {
  /** A sale of `other` that has read the stock, and stays until it is resumed. */
  async function startNext(sku: string) {
    await other.lab('DELETE', '/history');
    await other.lab('PUT', '/next-sale', { untilResumed: true });
    const answer = other.sell(sku);
    await until('the next one is inside', async () => (await other.events()).some(({ type }) => type === 'read'));
    return { answer, resume: () => other.lab('PUT', '/resume') };
  }

  test('fenced: the late write is refused, definite, though nothing newer has been written', async () => {
    const link = await startLink(redis.url);
    const slow = await startNode(link.url, { LOCK_VERSION: 'fenced' });
    await redis.client.set('{inventorycrossed}:stock', 10);
    const write = link.holdNext('write-if-newest');
    const late = slow.sell('crossed');
    await write.arrived;
    await redis.client.del('{inventorycrossed}:lock:fenced');
    const next = await startNext('crossed');

    expect(await write.letGo()).toBe(true);

    expectProblem(await late, 'STALE_TOKEN');
    await next.resume();
    expect((await next.answer).body).toMatchObject({ outcome: 'sold', stockBefore: 10, remaining: 9 });
    expect(await stockOf('crossed')).toBe('9');
  });

  test('fenced: the late read is refused, definite', async () => {
    const link = await startLink(redis.url);
    const slow = await startNode(link.url, { LOCK_VERSION: 'fenced' });
    await redis.client.set('{inventorybehind}:stock', 10);
    const read = link.holdNext('read-if-newest');
    const late = slow.sell('behind');
    await read.arrived;
    await redis.client.del('{inventorybehind}:lock:fenced');
    const next = await startNext('behind');

    expect(await read.letGo()).toBe(true);

    expectProblem(await late, 'STALE_TOKEN');
    expect((await slow.events()).map(({ type }) => type)).toEqual([
      'waiting',
      'entered',
      'left',
      'lease-lost',
      'failed',
    ]);
    await next.resume();
    expect((await next.answer).body).toMatchObject({ outcome: 'sold', stockBefore: 10, remaining: 9 });
  });

  test('fenced-writes: the stock takes both writes, and falls by one', async () => {
    const link = await startLink(redis.url);
    const slow = await startNode(link.url, { LOCK_VERSION: 'fenced-writes' });
    await other.lab('PUT', '/lock-version', { version: 'fenced-writes' });
    await redis.client.set('{inventorylost}:stock', 10);
    const write = link.holdNext('write-if-newest');
    const late = slow.sell('lost');
    await write.arrived;
    await redis.client.del('{inventorylost}:lock:fenced-writes');
    const next = await startNext('lost');

    expect(await write.letGo()).toBe(true);
    await until('it is written', async () => (await stockOf('lost')) === '9');
    await next.resume();

    expect((await next.answer).body).toMatchObject({ outcome: 'sold', stockBefore: 10, remaining: 9 });
    // Its write was taken, and at its release it learns that it had lost its lock: nobody can say whether it counts.
    expectProblem(await late, 'LOCK_NOT_HELD', { definite: false });
    expect(await stockOf('lost')).toBe('9');
    await other.lab('PUT', '/lock-version', { version: 'fenced' });
  });
});

describe('replicated: a replica must confirm', () => {
  const replicated = { LOCK_VERSION: 'replicated' };

  test('without one a sale is refused, definite, and neither the stock nor the lock is touched', async () => {
    const alone = await startNode(redis.url, replicated);
    await redis.client.set('{inventoryalone}:stock', 10);

    const refused = await alone.sell('alone');

    expectProblem(refused, 'NOT_REPLICATED', { definite: true });
    expect(await stockOf('alone')).toBe('10');
    expect(await redis.client.keys('*lock:replicated*')).toEqual([]);
    expect((await alone.events()).map(({ type }) => type)).toEqual(['waiting', 'failed']);
  });

  test('one that does not confirm the write leaves the sale in doubt, and the unit is gone', async () => {
    const replica = await startReplicaOf(redis.url);
    const selling = await startNode(redis.url, replicated);
    await redis.client.set('{inventorydoubt}:stock', 10);
    await selling.lab('PUT', '/next-sale', { untilResumed: true });
    const sale = selling.sell('doubt');
    await until('it is inside', async () => (await selling.events()).some(({ type }) => type === 'read'));

    replica.signal('SIGSTOP');
    await selling.lab('PUT', '/resume', {});

    expectProblem(await sale, 'NOT_REPLICATED', { definite: false });
    expect(await stockOf('doubt')).toBe('9');
    expect((await selling.events()).map(({ type }) => type)).toEqual(['waiting', 'entered', 'read', 'left', 'failed']);
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

describe('combine: a node sells for all who wait on it', () => {
  const BUYERS = 3;

  /** A node whose write for all its buyers has not reached Redis. */
  async function holdWrite(sku: string) {
    const link = await startLink(redis.url);
    const combining = await startNode(link.url, { LOCK_VERSION: 'combine' });
    await redis.client.set(`{inventory${sku}}:stock`, 100);
    await redis.client.hset(`{inventory${sku}}:lock:combine`, 'somebody', 1);
    const sales = Array.from({ length: BUYERS }, () => combining.sell(sku));
    await until('all wait', async () => (await combining.state()).waiting === BUYERS);
    const write = link.holdNext('write-if-newest');
    await redis.client.del(`{inventory${sku}}:lock:combine`);
    await write.arrived;
    return { link, combining, sales, write };
  }

  test('one write is that of all, and each has its own unit and its own steps', async () => {
    const { combining, sales, write } = await holdWrite('together');
    expect(await write.letGo()).toBe(true);

    const answers = await Promise.all(sales);

    const [, second] = answers.toSorted((a, b) => Number(b.body.remaining) - Number(a.body.remaining));
    expect(new Set(answers.map(({ body }) => body.remaining))).toEqual(new Set([99, 98, 97]));
    expect(await stockOf('together')).toBe('97');
    const own = (await combining.events()).filter(({ saleId }) => saleId === second?.body.saleId);
    expect(own.map(({ type, stock }) => [type, stock])).toEqual([
      ['waiting', undefined],
      ['entered', undefined],
      ['read', 99],
      ['left', undefined],
      ['wrote', 98],
    ]);
    expect((await combining.state()).counts).toMatchObject({ sold: BUYERS, failed: 0, inDoubt: 0 });
  });

  test('a late write that is refused refuses all of them, definite', async () => {
    const next = await startNode(redis.url, { LOCK_VERSION: 'combine' });
    const { combining, sales, write } = await holdWrite('refused');
    await redis.client.del('{inventoryrefused}:lock:combine');
    expect((await next.sell('refused')).body).toMatchObject({ outcome: 'sold', remaining: 99 });

    expect(await write.letGo()).toBe(true);

    for (const answer of await Promise.all(sales)) expectProblem(answer, 'STALE_TOKEN', { definite: true });
    expect(await stockOf('refused')).toBe('99');
    expect((await combining.state()).counts).toMatchObject({ failed: BUYERS, inDoubt: 0 });
  });

  test('a write that is not answered leaves all of them in doubt, and the lock is given up', async () => {
    const { link, combining, sales } = await holdWrite('unanswered');

    link.cut();
    link.restore();

    for (const answer of await Promise.all(sales)) expectProblem(answer, 'STORE_UNAVAILABLE', { definite: false });
    expect((await combining.state()).counts).toMatchObject({ inDoubt: BUYERS });
    await until(
      'the lock is free',
      async () => (await redis.client.exists('{inventoryunanswered}:lock:combine')) === 0,
    );
    expect(await stockOf('unanswered')).toBe('100');
  });

  test('an unknown sku is not found, and a stock that is empty is sold out', async () => {
    const combining = await startNode(redis.url, { LOCK_VERSION: 'combine' });
    await redis.client.set('{inventoryempty}:stock', 0);

    expectProblem(await combining.sell('unknown'), 'NOT_FOUND');
    expectProblem(await combining.sell('empty'), 'OUT_OF_STOCK');
  });
});

describe('redis-atomic: a sale without a lock', () => {
  beforeAll(async () => {
    await node.lab('DELETE', '/history');
    await node.lab('PUT', '/lock-version', { version: 'redis-atomic' });
  });

  test('emits its steps, and leaves no key but the stock', async () => {
    await redis.client.set('{inventoryatomic}:stock', 2);

    const answer = await node.sell('atomic');

    expect(answer.body).toMatchObject({ outcome: 'sold', stockBefore: 2, remaining: 1, lock: 'redis-atomic' });
    expect((await node.events()).map(({ type }) => type)).toEqual(['waiting', 'began', 'read', 'wrote', 'left']);
    expect(await redis.client.keys('{inventoryatomic}:*')).toEqual(['{inventoryatomic}:stock']);
  });

  test('the last unit is sold and no other; an unknown sku is not found, and not made', async () => {
    await redis.client.set('{inventoryatomic}:stock', 1);

    expect((await node.sell('atomic')).body).toMatchObject({ outcome: 'sold', remaining: 0 });
    expectProblem(await node.sell('atomic'), 'OUT_OF_STOCK');
    expectProblem(await node.sell('unknown'), 'NOT_FOUND');

    expect(await stockOf('atomic')).toBe('0');
    expect(await stockOf('unknown')).toBeNull();
  });

  test('nobody waits for a sale that is under way', async () => {
    await redis.client.set('{inventoryatomic}:stock', 10);
    await node.lab('DELETE', '/history');
    await node.lab('PUT', '/next-sale', { untilResumed: true });
    const slow = node.sell('atomic');
    await until('it is under way', async () => (await node.events()).some(({ type }) => type === 'began'));

    expect((await node.sell('atomic')).body).toMatchObject({ remaining: 9 });
    expect((await node.state()).waiting).toBe(0);
    await node.lab('PUT', '/resume');

    expect((await slow).body).toMatchObject({ remaining: 8 });
  });
});
