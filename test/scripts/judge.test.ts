import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { judgementSchema } from '../../loadtest/evidence/results.ts';
import { ownCommands } from './command-under-test.ts';

const file = 'scripts/judge.ts';
const start = ownCommands(file);
const shop = `exec node ${resolve('test/loadtest/worlds/foreign/shop.mjs')}`;

// Its clients give up after 900 ms otherwise, and a busy machine makes them wait for as long.
const judge = (mode: string, ...args: string[]) =>
  start(file, [shop, '--sale', 'POST /buy', ...args], { MODE: mode, PATIENCE_MS: '60000' });
type Command = ReturnType<typeof judge>;
const judgementIn = ({ reports }: Command) =>
  judgementSchema.parse(JSON.parse(readFileSync(join(reports, 'latest-judge/judge.json'), 'utf8')));

// A Python of the user's own, first on his PATH, need not have redis.
const env = { PATH: `/usr/bin:${process.env['PATH']}` };
const hasRedisPy = spawnSync('python3', ['-c', 'import redis'], { env }).status === 0;

// That no process, no server and no file of it is left is seen after each test.

test('a lock that is never renewed: what was learned of it, a verdict for each drill, and 0: it promises no more', async () => {
  // Those whose leases end by themselves are played in the soak: a busy machine spoils them.
  const command = judge('lock', '--drill', 'one-node-rush,late-write');

  const ended = await command.ended;
  expect(command.stderr()).toBe('');
  const { verdict, service, drills } = judgementIn(command);
  // A drill that came to nothing says why.
  expect(drills.filter((drill) => drill.verdict === 'unknown')).toEqual([]);
  expect(ended).toEqual({ code: 0, signal: null });
  expect(command.stdout()).toMatch(/^ +Stock +shop:stock, read by GET, written by SET$/m);
  expect(service).toMatchObject({
    sale: 'POST /buy',
    stock: 'shop:stock',
    answers: { sold: '200 sold, # left', soldOut: '409 sold out' },
    lock: { keys: ['shop:lock'], isRenewed: false, release: [expect.stringMatching(/^script /)] },
    obeysLease: true,
    isShared: false,
  });
  expect(verdict).toBe('holds');
  expect(drills.map((drill) => [drill.drill, drill.verdict])).toEqual([
    ['one-node-rush', 'pass'],
    ['late-write', 'fail'],
  ]);
});

test.runIf(hasRedisPy)(
  'the example in Python, where its interpreter is: a dead holder is waited for, a late write is not stopped',
  async () => {
    const command = start(file, ['examples/python', '--drill', 'crashed-holder,crossed-write'], env);

    expect([await command.ended, command.stderr()]).toEqual([{ code: 0, signal: null }, '']);
    const { service, drills } = judgementIn(command);
    expect(service.lock).toMatchObject({ keys: ['lock:inventory001'], isRenewed: false });
    expect(drills.map(({ verdict }) => verdict)).toEqual(['pass', 'fail']);
  },
);

test('a record that each sale leaves in Redis is no lock, and what is in it is shown to nobody', async () => {
  const command = judge('records', '--drill', 'crashed-holder', '--json');

  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stdout()).toContain('SET …');
  expect(command.stdout()).not.toContain('4711');
  expect(judgementIn(command).service.lock.keys).toEqual(['shop:lock']);
});

test('shops that are judged by their answers and the final stock: the reason, and the exit code', async () => {
  const sales = ['--requests', '150'];
  const cases = [
    { command: judge('sells-without-taking', '--drill', 'rush', ...sales), code: 1, reason: /\d sold twice\.$/ },
    {
      command: judge('decr-below-zero', '--drill', 'sell-out', ...sales),
      code: 1,
      reason: /^The stock is -\d+: more units were taken than there were\.$/,
    },
    { command: judge('watch', '--drill', 'rush', ...sales), code: 0, reason: /, as expected · none sold twice\.$/ },
  ];

  for (const { command, code, reason } of cases) {
    expect([await command.ended, command.stderr()]).toEqual([{ code, signal: null }, '']);
    const [drill, ...others] = judgementIn(command).drills;
    expect(others).toEqual([]);
    expect(drill?.reasons[0]).toMatch(reason);
  }
});

test('Ctrl-C while it is judged: 2, and what was left out is said', async () => {
  const command = judge('lock', '--drill', 'rush,long-sale,starvation', '--json');
  await expect.poll(() => readdirSync(command.reports), { interval: 20 }).not.toEqual([]);
  command.child.kill('SIGINT');

  expect(await command.ended).toEqual({ code: 2, signal: null });
  const { leftOut, drills } = judgementSchema.parse(JSON.parse(command.stdout()));
  expect(leftOut.length + drills.length).toBe(3);
  expect(leftOut).not.toEqual([]);
});

test.each([
  ['ends at once', 'echo no stock here; exit 3', /node-\d ended with exit code 3\n {2}no stock here/],
  ['is a folder that says nothing', 'examples', /examples is a folder without a lockstep\.json/],
])('a service that %s: a sentence, and 2', async (_what, service, why) => {
  const command = start(file, [service]);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(why);
});
