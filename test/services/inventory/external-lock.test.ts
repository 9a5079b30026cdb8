import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { lockKey } from '../../../services/inventory/store.ts';
import { lockWith, writeModule } from '../../loadtest/grade/modules.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { startNode, type TestNode, until } from './node-under-test.ts';

const externalLocks = {
  'throws-at-once': 'export const createLock = () => ({ acquire() { throw "a text"; }, release() {} });',
  'rejects-acquire': lockWith({ acquire: "throw new RangeError('too far');" }),
  'rejects-release': lockWith({ release: "throw new Error('stuck');" }),
  'no-lock': 'export const createLock = () => undefined;',
  'never-acquires': lockWith({ acquire: 'await new Promise(() => {});' }),
  'ignores-signal': lockWith({
    acquire: "while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs);",
  }),
  'reads-no-file': lockWith({ acquire: "await (await import('node:fs/promises')).readFile('/no/such/file');" }),
  'explains-outage': lockWith({
    acquire:
      "throw new Error('the lock is out of reach', { cause: new Error('again', { cause: Object.assign(new Error('refused'), { syscall: 'connect' }) }) });",
  }),
  'number-token': 'export const createLock = () => ({ async acquire() {}, async release() {}, fencingToken: 7 });',
  'unfenced-reads':
    'export const createLock = () => ({ async acquire() {}, async release() {}, fencingToken: 7, hasUnfencedReads: true });',
  'half-a-token': 'export const createLock = () => ({ async acquire() {}, async release() {}, fencingToken: 7.5 });',
};

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  const files = Object.entries(externalLocks).map(([name, text]) => writeModule(`${name}.ts`, text));
  node = await startNode(redis.url, { LOCK_MODULES: files.join(','), LOG_LEVEL: 'silent' });
});

/** Sells one unit under an external lock. */
async function sellUnder(version: string, waitTimeoutMs = 60_000) {
  const sku = randomUUID().slice(0, 8);
  await node.lab('PUT', '/lock-version', { version, waitTimeoutMs });
  await node.lab('PUT', '/stock', { sku, stock: 5 });
  return { sku, answer: await node.sell(sku) };
}

test.each([
  ['throws-at-once', "acquire() fails: 'a text'.", true],
  ['rejects-acquire', 'acquire() fails: RangeError: too far.', true],
  ['no-lock', 'createLock() returns no { acquire, release }: it returns undefined.', true],
  ['rejects-release', 'release() fails: Error: stuck.', false],
])('%s: the sale is answered LOCK_FAILED, and says why', async (name, detail, definite) => {
  const { answer } = await sellUnder(name);

  expect(answer).toMatchObject({ status: 500, body: { code: 'LOCK_FAILED', detail, definite } });
  const failed = (await node.events()).filter(({ type }) => type === 'failed').at(-1);
  expect(failed).toMatchObject({ code: 'LOCK_FAILED', detail });
});

test('reads-no-file: an error of the system is a fault of the lock, not an outage of Redis', async () => {
  const { answer } = await sellUnder('reads-no-file');

  expect(answer).toMatchObject({ status: 500, body: { code: 'LOCK_FAILED', definite: true } });
  expect(answer.body['detail']).toMatch(/^acquire\(\) fails: Error: ENOENT: no such file/);
});

test('explains-outage: an error that has a refused connection for its cause is an outage', async () => {
  const { answer } = await sellUnder('explains-outage');

  expect(answer).toMatchObject({ status: 503, body: { code: 'STORE_UNAVAILABLE', definite: true } });
});

test('never-acquires: the wait ends all the same', async () => {
  const { answer } = await sellUnder('never-acquires', 50);

  expect(answer).toMatchObject({ status: 503, body: { code: 'LOCK_WAIT_TIMEOUT' } });
});

test('ignores-signal: a lock that is granted too late is given back', async () => {
  const version = 'ignores-signal';
  await node.lab('PUT', '/lock-version', { version, waitTimeoutMs: 50 });
  await node.lab('PUT', '/stock', { sku: 'late', stock: 5 });
  const key = lockKey('late', version);
  await redis.client.set(key, 'somebody else');

  expect(await node.sell('late')).toMatchObject({ status: 503, body: { code: 'LOCK_WAIT_TIMEOUT' } });
  await redis.client.del(key);
  // It gets the lock now, and nobody is there to use it.
  await until('the lock was taken and given back', async () => /calls=/.test(await evalsOf(redis)));
  await until('the key is gone', async () => (await redis.client.exists(key)) === 0);
});

async function evalsOf({ client }: SharedRedis) {
  const stats = await client.info('commandstats');
  return /cmdstat_eval:\S+/.exec(stats)?.[0] ?? '';
}

test.each([
  ['number-token', []],
  ['unfenced-reads', ['read']],
])(
  '%s: the stock has seen a newer token, and refuses: the read as well, unless the lock shows its token at the write alone',
  async (name, reads) => {
    const sku = randomUUID().slice(0, 8);
    await node.lab('PUT', '/lock-version', { version: name });
    await node.lab('PUT', '/stock', { sku, stock: 5 });
    await redis.client.hset(`{inventory${sku}}:fence`, name, '9');
    const before = (await node.events()).length;

    expect(await node.sell(sku)).toMatchObject({ body: { code: 'STALE_TOKEN' } });

    const told = (await node.events()).slice(before).map(({ type }) => type);
    expect(told.filter((type) => type === 'read')).toEqual(reads);
  },
);

test('half-a-token: a token that cannot be compared is a fault of the lock, and nothing is written', async () => {
  const { sku, answer } = await sellUnder('half-a-token');

  const detail = 'its fencingToken is no whole number: it is 7.5.';
  expect(answer).toMatchObject({ status: 500, body: { code: 'LOCK_FAILED', detail } });
  expect(await redis.client.get(`{inventory${sku}}:stock`)).toBe('5');
});
