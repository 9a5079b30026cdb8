import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { knownVersions } from '../../../../locks/index.ts';
import { cronForm } from '../../../../services/inventory/settings/setting-kinds.ts';
import { inventorySettings, readNodeSettingsOrExit } from '../../../../services/inventory/settings/settings.ts';
import { serviceArgs } from '../../../../stack/bundle.ts';
import { makeTempDir } from '../../../../stack/parts.ts';
import { freePort } from '../../../../stack/ports.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { printedAtEnd } from '../../../exits.ts';
import { listen } from '../../../listen.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { startNode } from '../node-under-test.ts';

let redis: SharedRedis;

beforeAll(async () => {
  redis = await sharedRedis();
});

/** Runs a node in a folder of its own until it ends by itself. */
async function runNode(env: NodeJS.ProcessEnv, dotenv = '') {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  writeFileSync(join(temp.dir, '.env'), dotenv);
  const child = spawn(process.execPath, await serviceArgs(env), {
    cwd: temp.dir,
    env: { PATH: process.env.PATH, REDIS_URL: redis.url, PORT: String(await freePort()), ...env },
    timeout: 10_000,
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

/** What is printed by settings that end the process with 2. */
const refuse = (env: NodeJS.ProcessEnv) => printedAtEnd(() => readNodeSettingsOrExit(env));

describe('settings: a value that is not allowed ends the node with one line', () => {
  test.each([
    ['PORT', '0', 'a whole number from 1 to 65535 (a TCP port)'],
    ['LOCK_VERSION', '9', knownVersions],
    ['ORDER_CLEANUP_CRON', '0 0 25 * * ?', `${cronForm}; Invalid value for hour`],
  ])('%s=%s', async (name, value, allowed) => {
    expect(await refuse({ [name]: value })).toBe(`${name}=${value} is not allowed: it must be ${allowed}.\n`);
  });

  test.each([
    ['LOCK_VERSION', 'fence', 'fenced'],
    ['JOB_LOCK', 'conditionl', 'conditional'],
    ['ORDERS', 'onn', 'on'],
  ])('%s=%s is near another name', async (name, value, near) => {
    expect(await refuse({ [name]: value })).toBe(`${name}=${value} is not allowed. Did you mean ${near}?\n`);
  });

  test.each([
    ['a value of two lines is shown as one line', 'NODE_NAME', 'one\ntwo', 'NODE_NAME=one two'],
    ['a URL is not shown', 'REDIS_URL', 'http://127.0.0.1', 'REDIS_URL'],
    ['no certificate is looked through for an address', 'MYSQL_URL', 'mysqls://root@[::1]/a', 'MYSQL_URL'],
  ])('%s', async (_what, name, value, shown) => {
    const line = await refuse({ [name]: value });

    expect(line.split(' is not allowed: it must be ')[0]).toBe(shown);
    expect(line.split('\n')).toHaveLength(2);
  });

  test.each<[string, NodeJS.ProcessEnv, string]>([
    ['JOB_MIN_HOLD_MS=500', { JOB_LEASE_MS: '500' }, 'must be less than JOB_LEASE_MS, which is 500'],
    ['RENEW_EVERY_MS=500', { LEASE_MS: '500' }, 'must be less than LEASE_MS, which is 500'],
    ['FIXED_LEASE_MS=500', {}, 'needs LOCK_VERSION=blocking, but that is 8-auto-renew'],
    [
      'LOCK_SCOPE=user',
      { LOCK_VERSION: 'redis-atomic' },
      'needs a lock around the sale, and redis-atomic sells without one',
    ],
    ['IDEMPOTENCY=table', {}, 'needs MYSQL_URL and ORDERS=on'],
    ['STOCK_CACHE=cache-aside', {}, 'needs MYSQL_URL'],
    [
      'STOCK_CACHE=cache-aside',
      { MYSQL_URL: 'mysql://root@localhost:3306/a' },
      'needs ORDERS=off, because the cleanup job returns units to a single store',
    ],
    [
      'STOCK_CACHE=cache-aside',
      { MYSQL_URL: 'mysql://root@localhost:3306/a', ORDERS: 'off', LOCK_VERSION: 'redis-atomic' },
      "can't be combined with LOCK_VERSION=redis-atomic, which takes its unit from one store, without a lock",
    ],
    [
      'STOCK_CACHE=cache-aside',
      { MYSQL_URL: 'mysql://root@localhost:3306/a', ORDERS: 'off', LOCK_VERSION: 'fenced' },
      "can't be combined with LOCK_VERSION=fenced, which relies on the stock to check its fencing token, which MySQL does not do",
    ],
    [
      'ORDER_CLEANUP_OVERLAP=on',
      { ORDER_CLEANUP_FIXED_RATE_MS: '500' },
      'needs ORDER_CLEANUP_CRON: the other schedules have one run at a time',
    ],
    // The client of a Cluster does not know which server has written.
    [
      'LOCK_VERSION=replicated',
      { REDIS_URL: 'redis+cluster://127.0.0.1:7000' },
      'needs a REDIS_URL with a single server',
    ],
  ])('%s with %j stops the start', async (setting, env, why) => {
    const [name = '', value] = setting.split('=');
    expect(await refuse({ [name]: value, ...env })).toBe(`${setting} is not allowed: it ${why}.\n`);
  });

  test('a database that the Redis does not have is refused, and not taken for another', async () => {
    const { exitCode, stderr } = await runNode({ REDIS_URL: `${redis.url}/9999` });

    expect(stderr).toMatch(/^redis:\S+\/9999 is not allowed: ERR .*\n$/);
    expect(exitCode).toBe(2);
  });

  test('a port that is taken is named', async () => {
    const port = await listen(createServer());

    const { exitCode, stderr } = await runNode({ LAB_PORT: String(port) });

    expect(stderr).toMatch(new RegExp(`^LAB_PORT=${port} can't be opened: .*EADDRINUSE.*\\n$`));
    expect(exitCode).toBe(2);
  });
});

describe('settings: what is allowed', () => {
  const parse = (env: Record<string, string>) => inventorySettings.safeParse(env);

  test.each([
    ['PORT', ['', 'x', '1e3', '-1', '+1', ' 1', '65536', '99999999999999999999'], ['1', '65535', '0080']],
    ['LEASE_MS', ['29', '3600001', '30.0', 'Infinity'], ['30', '3600000']],
    [
      'LOCK_VERSION',
      ['-1', '08', 'ttl', 'constructor', '__proto__', '4 '],
      ['0', '8-auto-renew', '4-TTL', 'REDIS', 'mysql'],
    ],
    [
      'REDIS_URL',
      ['127.0.0.1:6379', 'redis://', 'redis:// x', 'redis://h:x', 'redis://h:65536', 'redis://h/db', 'redis://a,b'],
      ['redis://h', 'redis://h:1/15', 'rediss://:p%2Fw@h:6379', 'redis://u:p@[::1]:6379'],
    ],
    // With each of them a client would throw when it first connects, or take an option over that of the node.
    [
      'REDIS_URL',
      'redis://h:0 redis://u:%zz@h redis://h?port=99999 redis+cluster://h:0 redis+cluster://h:99999'.split(' '),
      ['redis+cluster://h:1,[::1]:65535'],
    ],
    [
      'REDIS_URL',
      ['redis+cluster://h,', 'redis+sentinel://h:0/m', 'redis+sentinel://h,:1/m'],
      ['redis+sentinel://h:1,i/m/3'],
    ],
    [
      'REDLOCK_URLS',
      ['redis://a,redis://b', 'redis://a,redis://b,redis://c:0', 'redis://a,redis://b,redis://c:99999', 'redis://a,,'],
      ['redis://a,redis://b:1, redis://[::1]:2'],
    ],
    [
      'MYSQL_URL',
      'u:p@h/db mysql://h:0/db mysql://h:99999/db mysql://u:p@/db mysql://?x/db mysql://u:%zz@h/db'.split(' '),
      ['mysql://u:p%2Fw@h:3306/db', 'mysql://[::1]/db', 'mysqls://h/db'],
    ],
    [
      'ZOOKEEPER_URL',
      ['127.0.0.1', '127.0.0.1:99999', 'a:0', 'a:1,b:65536', '[::1]:2181', 'a:1,', 'a:1/', ':1', 'u:p@a:1'],
      ['127.0.0.1:2181', 'a:1,b.c:65535/x/y-z'],
    ],
    // A shell may have set it to the name of the machine. localhost may be two addresses, and nginx asks both.
    ['HOST', ['box', 'box.lan', '1.2.3', '*', 'localhost'], ['0.0.0.0', '::', '::1', '127.0.0.1']],
    ['LAB_HOST', ['localhost', '[::1]'], ['0.0.0.0', '127.0.0.1']],
    [
      'LAB_ALLOWED_HOSTS',
      ['*', 'node-1:7778', 'node-1,', 'a b', '[node-1]', '.', 'fe80::1%eth0'],
      ['node-1', 'node-1, node-2.lab', '192.168.1.5,[::1],::1'],
    ],
  ])('%s refuses %j, and takes %j', (name, refused, taken) => {
    expect(refused.filter((value) => parse({ [name]: value }).success)).toEqual([]);
    expect(taken.filter((value) => !parse({ [name]: value }).success)).toEqual([]);
  });

  test('an empty variable counts as absent, and the port is the name', async () => {
    const node = await startNode(redis.url, { NODE_NAME: '', LOCK_VERSION: '', LEASE_MS: '' });
    expect(await node.state()).toMatchObject({ node: String(node.port), lock: '8-auto-renew' });
  });
});

test('settings: .env is read, the environment wins over it, and the process ends with 2 and prints nothing else', async () => {
  expect(await runNode({ LEASE_MS: '50' }, 'LEASE_MS=1\nWAIT_TIMEOUT_MS=0\n')).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringMatching(/^WAIT_TIMEOUT_MS=0 is not allowed[^\n]*\n$/),
  });
});

test.each([
  ['a node that is started by hand names it', {}, /^\.env sets LOCK_VERSON[^\n]*\nPORT=0 /],
  ['one that a command started, which has named it, does not', { LOCK_VERSON: '1' }, /^PORT=0 /],
])('settings: .env has a name that is no setting: %s', async (_what, env, stderr) => {
  expect((await runNode({ PORT: '0', ...env }, 'LOCK_VERSON=1\n')).stderr).toMatch(stderr);
});
