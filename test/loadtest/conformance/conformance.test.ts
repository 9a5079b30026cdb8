// The conformance checks: locks of ours come out as expected, and what is no lock, or can't be run, is told.

import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { checks } from '../../../loadtest/conformance/checks.ts';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import { checkNames } from '../../../loadtest/staircase/conformance.ts';
import { readTable } from '../../../loadtest/staircase/table.ts';
import { backendOf, hasLock, strategies } from '../../../locks/index.ts';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { lockWith, writeModule } from '../grade/modules.ts';

const signs = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

/** What comes of a check under a lock that somebody wrote. */
function check(name: string, text: string) {
  const facts = { backend: 'redis', isExternal: true } as const;
  return runCheck(name, { name: 'of-somebody', file: writeModule('of-somebody.ts', text), facts });
}

// Stages 2 and 3 have a key without an end, 2 to 4 delete any, 5 looks and deletes in two commands, and bounded renews three times alone.
const inRedis = Object.keys(strategies).filter(
  (name) => hasLock(name) && ['redis', 'masters'].includes(backendOf(name)),
);
const { rows: expected } = readTable(
  `
                         0-none
                         │  1-in-process
                         │  │  2-recursive-retry
                         │  │  │  3-spin
                         │  │  │  │  4-ttl
                         │  │  │  │  │  5-owner-check
                         │  │  │  │  │  │  6-lua-release
                         │  │  │  │  │  │  │  7-reentrant
                         │  │  │  │  │  │  │  │  8-auto-renew
                         │  │  │  │  │  │  │  │  │  delete-if-equal
                         │  │  │  │  │  │  │  │  │  │  bounded
                         │  │  │  │  │  │  │  │  │  │  │  blocking
                         │  │  │  │  │  │  │  │  │  │  │  │  fair
                         │  │  │  │  │  │  │  │  │  │  │  │  │  cohort
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  combine
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  read-write
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  fenced-writes
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  fenced
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  buckets
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  multi
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  redlock
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  semaphore
                         │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  replicated
contract-enter           ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-keys            –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-late-release    –  –  ✘  ✘  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-late-acquire    –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-same-node       –  –  ✘  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-long-hold       –  –  ✔  ✔  –  –  –  –  ✔  –  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-crash           –  –  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-dead-heir       –  –  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-not-held        –  –  ✘  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-lost            –  –  –  –  –  –  –  –  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-nested          –  –  –  –  –  –  –  ✔  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  ✔
contract-abort           –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-abort-many      –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-wake-up         –  –  –  –  –  –  –  –  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  –  –
contract-herd            –  –  –  –  –  –  –  –  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  –  –
contract-failed-renewal  –  –  –  –  –  –  –  –  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-quiet           –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-commands        –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-leftovers       –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-heap            –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-order           –  –  –  –  –  –  –  –  –  –  –  –  ✔  –  –  –  –  –  –  –  –  –  –
contract-turn            –  –  –  –  –  –  –  –  –  –  –  –  ✔  ✔  ✔  –  –  –  –  –  –  –  –
contract-redis-back      –  –  –  –  –  –  –  –  ✔  –  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-late-renewal    –  –  –  –  –  –  –  –  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-many-keys       –  –  –  –  –  –  –  –  ✔  –  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-one-try         –  –  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-clock           –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-tokens          –  –  –  –  –  –  –  –  –  –  –  –  –  –  ✔  –  ✔  ✔  ✔  ✔  –  –  –
contract-lost-reply      –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-late-reply      –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-failed-release  –  –  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-script-flush    –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-belief          –  –  –  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
contract-permits         –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  ✔  –
contract-readers         –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  ✔  –  –  –  –  –  –  –
contract-replica         –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  ✔
contract-sequences       –  –  ✘  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔
`,
  { columns: inRedis, rows: checkNames.filter((name) => name !== 'contract-long-sequences'), signs: ['✔', '✘', '–'] },
);

test('there is a question for each check, in their order', () => {
  expect(checks.map(({ name }) => name)).toEqual(checkNames);
});

test.each(inRedis)('%s: every check comes out as expected', async (lock) => {
  for (const [name, signsOf] of Object.entries(expected)) {
    // What stays in memory is looked at under the known bugs and their controls.
    if (name === 'contract-heap') continue;
    const { verdict, reasons } = await runCheck(name, lockNamed(lock));
    expect({ name, sign: signs[verdict], reasons }).toMatchObject({ sign: signsOf[lock] });
  }
});

test.each([
  [
    'that ends its process',
    "setImmediate(() => { throw new Error('boom'); }); await new Promise(() => {});",
    'fail',
    /Error: boom/,
  ],
  [
    'that always throws',
    "throw new Error('ERR max number of clients reached.');",
    'fail',
    /^The acquire\(\) of a free lock rejected with Error: ERR max number of clients reached\.$/,
  ],
  [
    'that asks for what the virtual world does not have',
    "const { Worker } = await import('node:worker_threads'); new Worker('./worker.js');",
    'unknown',
    /worker_threads\.Worker/,
  ],
  [
    'that uses transactions, pipelines, and a connection that waits at the server',
    `while ((await redis.multi().set(key, ownerToken, 'PX', leaseMs, 'NX').exec())[0][1] !== 'OK') {
      const bell = redis.duplicate({ enableOfflineQueue: true });
      await bell.blpop(key + ':bell', 0.5).finally(() => bell.disconnect());
    }`,
    'pass',
    /One holder at a time is inside/,
    "await redis.pipeline().del(key).lpush(key + ':bell', 1).pexpire(key + ':bell', 100).exec();",
  ],
])('a lock %s: the first check says so', async (_what, acquire, verdict, reason, release?: string) => {
  const outcome = await check('contract-enter', lockWith({ acquire, ...(release && { release }) }));

  expect(outcome).toMatchObject({ verdict, reasons: [expect.stringMatching(reason)] });
});

test('a queue in which a dead waiter stays first is not free after a crash; fair, which passes it over, is', async () => {
  const ask = `if not redis.call('LPOS', KEYS[2], ARGV[1]) then redis.call('RPUSH', KEYS[2], ARGV[1]) end
    if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('LINDEX', KEYS[2], 0) ~= ARGV[1] then return 0 end
    redis.call('LPOP', KEYS[2]) redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`;
  const queues = `while ((await redis.eval(${JSON.stringify(ask)}, 2, key, key + ':queue', ownerToken, leaseMs)) === 0)
    await sleep(retryDelayMs, undefined, { signal });`;

  expect(await check('contract-crash', lockWith({ acquire: queues }))).toMatchObject({
    verdict: 'fail',
    reasons: [
      expect.stringMatching(/^B was killed while it waited, .* the dead waiter keeps its place before the others\.$/),
    ],
  });
  expect(await runCheck('contract-crash', lockNamed('fair'))).toMatchObject({ verdict: 'pass' });
});

test('a waiter that robs the holder is not said to have lost the lock', async () => {
  const robs = `const from = performance.now();
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      if (performance.now() > from + 2 * leaseMs) return void (await redis.set(key, ownerToken, 'PX', leaseMs));
      await sleep(retryDelayMs, undefined, { signal });
    }`;

  expect(await check('contract-belief', lockWith({ acquire: robs }))).toMatchObject({
    verdict: 'fail',
    reasons: [
      expect.stringMatching(/^B entered 1\.6 s after its first try, while A was inside and within its lease\.$/),
    ],
  });
});

test('a lock that the virtual world can not run is unknown, with the reason', async () => {
  const outcome = await check('contract-crash', `import './nowhere.ts';\n${lockWith({})}`);

  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: [expect.stringMatching(/nowhere/)] });
});

const adapter = writeModule(
  'adapter.ts',
  "import { createLock as own } from 'library';\nexport const createLock = own;",
);
test.each([
  ['fail', 'await redis.del(key);'],
  ['pass', undefined],
])('two locks of one file, such as an adapter of two versions of a package, are two: %s', async (verdict, release) => {
  const library = writeModule('library.ts', lockWith({ ...(release && { release }) }));
  const packages = { folder: dirname(library), names: { library: './library.ts' } };
  const source = {
    name: 'of-somebody',
    file: adapter,
    facts: { backend: 'redis', isExternal: true },
    packages,
  } as const;

  expect(await runCheck('contract-late-release', source)).toMatchObject({ verdict });
});

test('owners that are drawn at random are not the same: two holders of one process are told apart', async () => {
  const drawing = lockWith({}).replace('=> ({', '=> make({').replace('ownerToken, leaseMs', 'leaseMs');
  const text = drawing
    .replace(/ownerToken/g, 'owner')
    .replace('=> make({', '=> { const owner = String(Math.random()); return {');

  expect(await check('contract-same-node', text.replace(/\}\);\s*$/, '}; };'))).toMatchObject({ verdict: 'pass' });
});
