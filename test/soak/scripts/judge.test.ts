import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { judgementSchema } from '../../../loadtest/evidence/results.ts';
import { foreignDrills } from '../../../loadtest/worlds/foreign/world.ts';
import { ownCommands } from '../../scripts/command-under-test.ts';

const file = 'scripts/judge.ts';
const start = ownCommands(file);
const shop = `exec node ${resolve('test/loadtest/worlds/foreign/shop.mjs')}`;
// A Python of the user's own, first on his PATH, need not have redis.
const env = { PATH: `/usr/bin:${process.env['PATH']}` };
const runs = (command: string, ...args: string[]) => spawnSync(command, args, { env }).status === 0;

const signs: Record<string, string> = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };
/**
 * What each drill says, in this order. `·`: what comes of it is not the point of that shop, or takes luck. The last three are those that
 * play on one Redis that fails, and where buyers queue.
 */
const ORDER = [
  ...['one-node-rush', 'rush', 'sell-out'],
  ...['crashed-holder', 'hung-holder', 'slow-holder', 'late-release', 'long-sale'],
  ...['paused-process', 'partition', 'late-write', 'crossed-write'],
  ...['failover', 'redis-outage', 'starvation'],
];
const LEASE = '✔✔✔ ✔✔✔✔✘ ✘✘✘✘ ✘✔✘';
const RENEWED = '✔✔✔ ✔✘✔✔✔ ✘✘✘✘ ✘✔✘';
const NONE = '✘✘✘ ✔✔✘–✘ ✘✘✘✘ ✘✘–';
const OPTIMISTIC = '✔✔✔ ✔✔✔–✔ ✔✔✔✔ ✔✔–';
const ONE_STEP = '✔✔✔ ––––– –––– –✔–';

type Row = [name: string, args: string[], env: NodeJS.ProcessEnv, row: string];
const mode = (MODE: string, row: string): Row => [MODE, [shop, '--sale', 'POST /buy'], { MODE }, row];
const shops = [
  mode('lock', LEASE),
  mode('hash-field', LEASE),
  mode('odd-answers', LEASE),
  mode('none', NONE),
  mode('lock-per-process', '✔✘✘ ✔✔✘✔✘ ✘✘✘✘ ✘✘·'),
  mode('lock-around-the-read', '✘✘· ✔···✘ ✘✘✘✘ ✘··'),
  mode('late-release-in-a-thread', '✔✔✔ ✔✔✘✘✘ ✘✘✘✘ ✘·✘'),
  mode('sells-without-taking', '✘✘✘ ····· ✘✘✘✘ ✘·✘'),
  mode('sells-to-nobody', '✘✘· ····· ✘✘✘✘ ✘·✘'),
  mode('sold-after-a-refused-write', '✘✘✘ ····· ···· ···'),
  mode('decr-below-zero', '✔✔✘ ––––– –––– –·–'),
  mode('decr-and-back', ONE_STEP),
  mode('script', ONE_STEP),
  mode('watch', OPTIMISTIC),
  mode('compare-and-set', OPTIMISTIC),
  mode('version', OPTIMISTIC),
];

const stage = (STAGE: string, row: string): Row => [`java, stage ${STAGE}`, ['examples/java'], { STAGE }, row];
const java = [
  stage('0', NONE),
  stage('1', '✔✘✘ ✔✔✘–✘ ✘✘✘✘ ✘✘–'),
  // Its recursion drops the answer.
  stage('2', '✘✘✘ ✘✘✔✔✔ ✔✔✔✔ ✘✘✘'),
  stage('3', '✔✔✔ ✘✘✔✔✔ ✔✔✔✔ ✘✘✘'),
  stage('4', '✔✔✔ ✔✔✘✘✘ ✘✘✘✘ ✘✔✘'),
  stage('5', '✔✔✔ ✔✔✔✘✘ ✘✘✘✘ ✘✔✘'),
  stage('6', LEASE),
  stage('7', LEASE),
  stage('8', RENEWED),
];
const lock = (LOCK: string, row: string): Row => [`python, ${LOCK}`, ['examples/python'], { LOCK }, row];
const python = [lock('none', NONE), lock('lock', LEASE), lock('renew', RENEWED)];
// Who waits for longer than his own lease is told of an error.
const php: Row[] = [['php', ['examples/php'], {}, '✔✔✔ ···✔· ✘✘✘✘ ✘✔✘']];

const symfony = "require '/usr/share/php/Symfony/Component/Lock/autoload.php'; exit(class_exists('Redis') ? 0 : 1);";
test.each([
  ...shops,
  ...(runs('javac', '-version') ? java : []),
  ...(runs('python3', '-c', 'import redis') ? python : []),
  ...(runs('php', '-r', symfony) ? php : []),
])('judged by its wire: %s', async (_name, args, own, expected) => {
  const command = start(file, args, { ...env, ...own });
  await command.ended;
  expect(command.stderr()).toBe('');

  const judgement = readFileSync(join(command.reports, 'latest-judge/judge.json'), 'utf8');
  const { drills, environment } = judgementSchema.parse(JSON.parse(judgement));
  const isNative = environment.redis.kind === 'native';
  const row = [...expected.replaceAll(' ', '')].map((sign, at) => (ORDER[at] === 'failover' && !isNative ? '·' : sign));
  const seen = ORDER.map((name, at) => {
    const { verdict = '', reasons = [] } = drills.find(({ drill }) => drill === name) ?? {};
    const sign = row[at] === '·' ? '·' : signs[verdict];
    return sign === row[at] ? `${name} ${sign}` : `${name} ${sign} ${reasons.join(' ')}`;
  });
  expect(seen).toEqual(ORDER.map((name, at) => `${name} ${row[at]}`));
});

test('each drill has its place in a row', () => {
  expect(ORDER.toSorted()).toEqual(foreignDrills.toSorted());
});
