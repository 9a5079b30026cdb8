import { expect, test } from 'vitest';
import {
  type Answers,
  createPatience,
  describePace,
  faultsOf,
  killRandomNodes,
} from '../../../../loadtest/orders/random-kills.ts';
import type { Holdings } from '../../../../services/inventory/orders/accounts.ts';
import { ownCommands } from '../../../loadtest/commands/command-under-test.ts';

test('a random node is killed every second under load: every unit is somewhere, and the answers agree', async () => {
  const run = await killRandomNodes({ seconds: 6, lock: '8-auto-renew' });

  expect(run.kills).toBeGreaterThanOrEqual(3);
  expect(run.answers['sold']).toBeGreaterThan(50);
  // Somebody was in the middle of it.
  expect(run.answers['NODE_UNAVAILABLE?']).toBeGreaterThan(0);
  expect(run).toMatchObject({
    exitCode: 0,
    accounts: expect.stringContaining('Nothing is unexplained.'),
    faults: [],
  });
  const { paid, refunded, restored } = run.holdings;
  for (const units of [paid, refunded, restored]) expect(units).toBeGreaterThan(0);
  // A third is left to the clean-up.
  expect(run.cleanUp.closed).toBeGreaterThan(0);
  expect(run.cleanUp.closed).toBeLessThanOrEqual(restored);
  expect(run.cleanUp.closed + run.cleanUp.left).toBeGreaterThanOrEqual(restored);
}, 90_000);

/** Of 100 units 60 were sold: 20 orders wait, 20 are paid, 10 refunded, and 10 closed and restored. */
const settled: Holdings = {
  sku: '001',
  stockIn: 'redis',
  supply: 100,
  inStock: 50,
  unpaid: 20,
  paid: 20,
  refunded: 10,
  restored: 10,
  owed: 0,
  unrestored: 0,
  intended: 0,
};

test.each<[string, Answers, Partial<Holdings>, RegExp[]]>([
  ['all is sold and answered', { sold: 60, OUT_OF_STOCK: 9 }, {}, []],
  ['a sale without an answer has its order', { sold: 59, 'NODE_UNAVAILABLE?': 3 }, {}, []],
  ['a sale without an answer took a unit', { sold: 60, 'NODE_UNAVAILABLE?': 1 }, { inStock: 49, intended: 2 }, []],
  ['a unit is lost', { sold: 60 }, { inStock: 49 }, [/^1 unit unexplained/]],
  ['a unit is lost behind an intent', { sold: 60 }, { inStock: 49, intended: 1 }, [/^60 orders and 1 unit in doubt/]],
  ['an order is lost', { sold: 61 }, {}, [/^61 were sold, and there are 60 orders/]],
  ['an order nobody asked for', { sold: 59, OUT_OF_STOCK: 1 }, {}, [/^60 orders and 0 units in doubt for 59/]],
])('%s', (_, answers, differs, faults) => {
  expect(faultsOf(answers, { ...settled, ...differs })).toEqual(faults.map((fault) => expect.stringMatching(fault)));
});

test('the pace of the clean-up, in a sentence', () => {
  expect(describePace({ closed: 1_500, ms: 60_000, left: 40 })).toBe(
    'Beside the buyers the clean-up closed 1,500 orders, 25.0 a second; 40 were left, due or not yet.',
  );
});

test('it waits as long as the clean-up gets on, and no longer', () => {
  const isWorthWaiting = createPatience(30_000);

  const looks: [backlog: number, at: number][] = [
    [900, 0],
    [900, 29_000],
    [899, 29_500],
    [1_000, 59_000],
    [700, 59_400],
    [700, 89_300],
    [701, 89_400],
  ];
  expect(looks.map((look) => isWorthWaiting(...look))).toEqual([true, true, true, true, true, true, false]);
});

const command = 'loadtest/commands/random-kills.ts';
const start = ownCommands(command);

test('npm run random-kills: Ctrl-C ends it with 2, and nothing is left', async () => {
  const run = start(command);
  await run.prints(/A random node is killed every second, for 120 s under 8-auto-renew/);
  run.child.kill('SIGINT');

  expect({ ...(await run.ended), stderr: run.stderr() }).toEqual({
    code: 2,
    signal: null,
    stderr: 'The run could not be made: it was interrupted\n',
  });
}, 300_000);

test.each([
  { args: ['--seconds', '0'], env: {}, says: /'--seconds <n>' argument '0' is invalid/ },
  { args: ['--stage', '99'], env: {}, says: /'--stage <stage>' argument '99' is invalid/ },
  { args: [], env: { MYSQL_URL: 'mysql://root@127.0.0.1:1/shop' }, says: /MYSQL_URL names is not ours to empty/ },
])('npm run random-kills: 2 for $args $env', async ({ args, env, says }) => {
  const run = start(command, args, env);

  expect((await run.ended).code).toBe(2);
  expect(run.stderr()).toMatch(says);
});
