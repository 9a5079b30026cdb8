import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../../../stack/parts.ts';
import { type Link, openLink } from '../../../../stack/proxy/link.ts';
import { openReplica, untilCopied } from '../../../../stack/redis.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { expectProblem, startHeldSale, startNode, type TestNode, until } from '../node-under-test.ts';

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

const bucketKey = (sku: string, bucket: number) => `{inventory${sku}}:stock${bucket === 0 ? '' : `:${bucket}`}`;
const unitsOf = (sku: string, buckets = 4) =>
  redis.client.mget(Array.from({ length: buckets }, (_, bucket) => bucketKey(sku, bucket)));
const fill = (sku: string, ...units: number[]) =>
  redis.client.mset(...units.flatMap((stock, bucket) => [bucketKey(sku, bucket), stock]));
const remainingOf = async (sku: string) => (await other.get(`/inventory?sku=${sku}`)).body;
const eventsOf = async (of: TestNode) =>
  (await of.events()).map(({ type, stock, bucket }) =>
    [type, bucket, stock].filter((part) => part !== undefined).join(' '),
  );

test('buckets, the stock: it is spread, summed, and deleted with all that belongs to it', async () => {
  await setLock('buckets');
  await other.lab('PUT', '/stock', { sku: 'spread', stock: 1_002 });
  expect(await unitsOf('spread')).toEqual(['251', '251', '250', '250']);
  expect(await remainingOf('spread')).toEqual({ sku: 'spread', remaining: 1_002 });

  for (let sale = 0; sale < 20; sale += 1) await other.sell('spread');

  expect(await remainingOf('spread')).toEqual({ sku: 'spread', remaining: 982 });
  await other.lab('DELETE', '/stock?sku=spread');
  expect(await redis.client.keys('{inventoryspread}*')).toEqual([]);
  expectProblem(await other.sell('spread'), 'NOT_FOUND');
});

test('BUCKETS: so many, and the answer says which', async () => {
  const two = await startNode(redis.url, { LOCK_VERSION: 'buckets', BUCKETS: '2' });
  await two.lab('PUT', '/stock', { sku: 'two', stock: 1_000 });
  expect(await unitsOf('two', 3)).toEqual(['500', '500', null]);
  await redis.client.set(bucketKey('two', 0), 0);

  const { body } = await two.sell('two');

  expect(body).toMatchObject({ outcome: 'sold', stockBefore: 500, remaining: 499, bucket: 1 });
  expect(await eventsOf(two)).toEqual(['waiting', 'entered 1', 'read 1 500', 'wrote 1 499', 'left 1']);
});

test('buckets: sold out is found out by one command, which reads all buckets', async () => {
  await setLock('buckets');
  await fill('none', 0, 0, 0, 0);
  const sent: string[] = [];
  link.watch(({ name, args }) => {
    if (args.some((arg) => arg.startsWith('{inventorynone}'))) sent.push([name, ...args].join(' '));
  });

  expectProblem(await slow.sell('none'), 'OUT_OF_STOCK');

  expect(sent).toEqual([`MGET ${[0, 1, 2, 3].map((bucket) => bucketKey('none', bucket)).join(' ')}`]);
  expect((await slow.state()).counts).toMatchObject({ soldOut: 1 });
});

test('buckets: two nodes sell the last units of all buckets, each once, and nobody is refused before', async () => {
  await setLock('buckets');
  await fill('last', 5, 5, 5, 5);

  const answers = await Promise.all(Array.from({ length: 30 }, (_, sale) => (sale % 2 ? slow : other).sell('last')));

  const sold = answers
    .filter(({ body }) => body.outcome === 'sold')
    .map(({ body }) => `${body.bucket} ${body.remaining}`);
  expect(new Set(sold).size).toBe(20);
  expect(answers.filter(({ body }) => body.code === 'OUT_OF_STOCK')).toHaveLength(10);
  expect(await unitsOf('last')).toEqual(['0', '0', '0', '0']);
});

test('buckets, then another lock: what is shown can be sold, and a sale that is in a bucket meanwhile has sold nothing', async () => {
  await setLock('buckets');
  await other.lab('PUT', '/stock', { sku: 'gathered', stock: 400 });
  const { answer, resume } = await startHeldSale(slow, 'gathered');

  expect((await other.lab('PUT', '/lock-version', { version: '8' })).status).toBe(200);
  await resume();

  expectProblem(await answer, 'STALE_TOKEN', { definite: true });
  await setLock('8');
  expect(await unitsOf('gathered')).toEqual(['400', null, null, null]);
  expect(await remainingOf('gathered')).toEqual({ sku: 'gathered', remaining: 400 });
  expect((await slow.sell('gathered')).body).toMatchObject({ outcome: 'sold', remaining: 399 });
  // The tokens go on from where they were.
  await setLock('buckets');
  expect((await slow.sell('gathered')).body).toMatchObject({ outcome: 'sold', remaining: 398, bucket: 0 });
});

test('from buckets to another lock: a sale that is inside under that lock does not write over what is gathered', async () => {
  await setLock('buckets');
  await other.lab('PUT', '/lock-version', { version: '8' });
  await slow.lab('PUT', '/stock', { sku: 'under', stock: 400 });
  const { answer, resume } = await startHeldSale(other, 'under');
  const asked = new Promise<void>((resolve) =>
    link.watch(({ args }) => void (args.includes('{inventoryunder}:lock:8-auto-renew') && resolve())),
  );

  const switched = slow.lab('PUT', '/lock-version', { version: '8' });
  await Promise.race([asked, switched]);
  await resume();

  expect((await answer).body).toMatchObject({ outcome: 'sold', remaining: 99 });
  expect((await switched).status).toBe(200);
  expect(await unitsOf('under')).toEqual(['399', null, null, null]);
});

test('from buckets to another lock: the lock is not free: units are left, they are not shown, and the next try has them', async () => {
  await setLock('buckets');
  await fill('kept', 100, 100, 100, 100);
  const lock = '{inventorykept}:lock:8-auto-renew';
  await redis.client.hset(lock, 'somebody', 1);
  const change = { version: '8', waitTimeoutMs: 100 };

  expectProblem(await other.lab('PUT', '/lock-version', change), 'LOCK_WAIT_TIMEOUT', {
    definite: false,
    detail: /^Units may be left in buckets that 8-auto-renew does not sell: The lock was not free within 100 ms\.$/,
  });
  expect(await remainingOf('kept')).toEqual({ sku: 'kept', remaining: 100 });
  await redis.client.del(lock);
  expect((await other.lab('PUT', '/lock-version', change)).body).toMatchObject({ lock: '8-auto-renew' });
  expect(await remainingOf('kept')).toEqual({ sku: 'kept', remaining: 400 });
});

test.each([
  { LOCK_VERSION: '3', gathered: ['21', null, null, null, null, null] },
  { LOCK_VERSION: 'buckets', BUCKETS: '2', gathered: ['19', '2', null, null, null, null] },
])(
  '$LOCK_VERSION: a node that starts gathers the buckets that it does not sell, and its count leaves none',
  async (each) => {
    const { gathered, ...env } = each;
    const sku = `started-${env.LOCK_VERSION}`;
    await fill(sku, 1, 2, 3, 4, 5, 6);

    const later = await startNode(redis.url, env);

    await until('all is gathered', async () => `${await unitsOf(sku, 6)}` === `${gathered}`);
    expect((await later.get(`/inventory?sku=${sku}`)).body).toMatchObject({ remaining: 21 });
    await fill(sku, 1, 2, 3, 4, 5, 6);
    await later.lab('PUT', '/stock', { sku, stock: 50 });
    expect(await unitsOf(sku, 6)).toEqual(['50', null, null, null, null, null]);
  },
);

const look = (at: TestNode, sku: string) => at.get(`/inventory?sku=${sku}`);
const lockKey = (sku: string) => `{inventory${sku}}:lock:read-write`;
const readLocks = (sku: string) => redis.client.keys(`${lockKey(sku)}*`);

/** A sale that is between its read and its write, until it is resumed. */
async function sellHeld(sku: string) {
  await redis.client.set(`{inventory${sku}}:stock`, 10);
  return startHeldSale(other, sku);
}

test('GET /inventory under read-write: it is answered when the sale has left, and with what it wrote', async () => {
  await setLock('read-write');
  const sale = await sellHeld('seen');
  let hasAnswer = false;
  const [here, there] = [slow, other].map((at) => look(at, 'seen').finally(() => (hasAnswer = true)));
  // Each of them has asked by then, and Redis has answered.
  for (let round = 0; round < 5; round += 1) for (const at of [slow, other]) await at.get('/readyz');
  expect(hasAnswer).toBe(false);

  await sale.resume();

  expect((await sale.answer).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  for (const answer of [here, there]) {
    expect(await answer).toMatchObject({ status: 200, body: { sku: 'seen', remaining: 9 } });
  }
  expect(await readLocks('seen')).toEqual([]);
});

test('GET /inventory under read-write: what was read is not answered when the lock was lost meanwhile', async () => {
  await setLock('read-write');
  await redis.client.set('{inventorylost}:stock', 10);
  const read = link.holdNext('GET');
  const answer = look(slow, 'lost');
  await read.arrived;
  expect(await redis.client.hlen(`${lockKey('lost')}:readers`)).toBe(1);

  await redis.client.del(`${lockKey('lost')}:readers`, `${lockKey('lost')}:leases`);
  await other.sell('lost');
  await read.letGo();

  expectProblem(await answer, 'LOCK_NOT_HELD');
  expect(await readLocks('lost')).toEqual([]);
});
