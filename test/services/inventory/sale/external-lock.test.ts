import { randomUUID } from 'node:crypto';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { abortError } from '../../../../locks/drivers/abortable.ts';
import type { LockOptions } from '../../../../locks/lock.ts';
import { supervised } from '../../../../services/inventory/sale/external-lock.ts';
import { lockKey } from '../../../../services/inventory/servers/store.ts';
import { readExternalModule } from '../../../../services/inventory/settings/external-module.ts';
import { lockWith, writeModule } from '../../../loadtest/grade/modules.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { startNode, type TestNode, until } from '../node-under-test.ts';

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
  ['no-lock', 'createLock() does not return { acquire, release }: it returns undefined.', true],
  ['rejects-release', 'release() fails: Error: stuck.', false],
])('%s: the sale is answered LOCK_FAILED, and says why', async (name, detail, definite) => {
  const { answer } = await sellUnder(name);

  expect(answer).toMatchObject({ status: 500, body: { code: 'LOCK_FAILED', detail, definite } });
  const failed = (await node.events()).filter(({ type }) => type === 'failed').at(-1);
  expect(failed).toMatchObject({ code: 'LOCK_FAILED', detail });
});

test.each([
  // An error of the system is a fault of the lock, not an outage of Redis.
  ['reads-no-file', 'LOCK_FAILED', 60_000],
  // It has a refused connection for its cause.
  ['explains-outage', 'STORE_UNAVAILABLE', 60_000],
  ['never-acquires', 'LOCK_WAIT_TIMEOUT', 50],
])('%s: %s, definite', async (name, code, waitTimeoutMs) => {
  const { answer } = await sellUnder(name, waitTimeoutMs);

  expect(answer.body).toMatchObject({ code, definite: true });
});

test.each([
  ['a static method of a class', 'export default class { static createLock() {} }'],
  ['under a createLock that is undefined', 'export const createLock = undefined; export default { createLock() {} };'],
])('default: its createLock is found, %s', async (name, text) => {
  const { createLock } = await readExternalModule(writeModule(`${name.replaceAll(' ', '-')}.mjs`, text));

  expect(createLock).toBeTypeOf('function');
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

  const detail = 'its fencingToken is not a whole number: it is 7.5.';
  expect(answer).toMatchObject({ status: 500, body: { code: 'LOCK_FAILED', detail } });
  expect(await redis.client.get(`{inventory${sku}}:stock`)).toBe('5');
});

test.each([
  ['that is free', async () => {}, 'has it'],
  ['that is held', async (signal?: AbortSignal) => Promise.reject(abortError(signal)), 'AbortError'],
])('an external lock %s is tried once when the signal is aborted already', async (_which, tryOnce, expected) => {
  const acquire = vi.fn(tryOnce);
  const lock = supervised(() => ({ acquire, async release() {} }))({} as LockOptions);

  const ended = lock.acquire(AbortSignal.abort()).then(
    () => 'has it',
    ({ name }) => name,
  );

  expect([await ended, acquire.mock.calls.length]).toEqual([expected, 1]);
});

test('an external lock that never releases: it is said after five seconds', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const never = () => new Promise<void>(() => {});
  const lock = supervised(() => ({ async acquire() {}, release: never }))({} as LockOptions);
  const released = lock.release().catch(({ code, message }) => [code, message]);

  await vi.advanceTimersByTimeAsync(5_000);

  expect(await released).toEqual(['LOCK_FAILED', 'release() did not settle within 5000 ms']);
});
