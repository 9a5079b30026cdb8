import { expect, test } from 'vitest';
import { lockWith, noModule, writeModule } from '../loadtest/grade/modules.ts';
import { ownCommands } from './command-under-test.ts';
import { processesOf } from './processes-of.ts';

const file = 'scripts/prove.ts';
const start = ownCommands(file);
const prove = (...args: string[]) => start(file, args);

test('one cell that fails as expected: its counterexample, step by step, and 0', async () => {
  const command = prove('5', '--scope', 'late-release', '--processes', '2');

  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stdout()).toMatch(/5-owner-check · late-release · 2 processes {3}✘ fails/);
  expect(command.stdout()).toMatch(/Replayed 20 times: the same each time\./);
  expect(command.stdout()).toMatch(/10\. {3}901 ms {2}A DEL lock, held until now, → 1: A has released the lock/);
});

test('several cells: the matrix, with a sign for each; 1 when a lock of another does not hold', async () => {
  const command = prove(
    writeModule('right.ts', lockWith({})),
    writeModule('wrong.ts', lockWith({ release: 'await redis.del(key);' })),
    writeModule('net.ts', `import 'node:net';\n${lockWith({})}`),
    // It breaks out of the sandbox, and ends the process that searches.
    writeModule('deadly.ts', lockWith({ acquire: "redis.set.constructor('process.exit(7)')();" })),
    ...['--scope', 'slow-holder', '--processes', '2'],
  );

  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.stdout()).toMatch(/^right +✔\nwrong +✘\nnet +\?\ndeadly +\?$/m);
  expect(command.stdout()).toMatch(/wrong · slow-holder · 2 processes: ✘ A changes the lock that B holds/);
  expect(command.stdout()).toMatch(
    /deadly · slow-holder · 2 processes: \? The process of the model checker died, or did not/,
  );
  expect(command.stdout()).toMatch(/net · slow-holder · 2 processes: \? net can't be proved: it imports node:net/);
});

test.each([
  [['--stage', 'zookeeper'], /the model checker has no server of the kind that zookeeper needs/],
  [['--states', '0'], /--states.*from 1 to/],
  [['99'], /there is no stage 99: it must be a number from 0 to 8, a name such as fenced, or a file such as/],
  [['fence'], /there is no stage fence\. Did you mean fenced\?/],
  [['--scope', 'late-relase'], /--scope late-relase is unknown\. Did you mean late-release\?/],
  [[noModule('nobody.ts')], /nobody\.ts can't be proved: there is no such file\./],
])('%j is refused, with 2', async (args, why) => {
  const command = prove(...args);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(why);
});

test('Ctrl-C: what is known by then, as JSON and nothing else, and 2', async () => {
  const command = prove('--stage', '4,fair', '--scope', 'late-release,slow-holder', '--processes', '3', '--json');
  // It has listened to signals for as long as it has had processes that search.
  await expect
    .poll(() => processesOf(command.tmp).join(), { interval: 20, timeout: 60_000 })
    .toContain('prove/worker.ts');
  command.child.kill('SIGINT');

  expect(await command.ended).toEqual({ code: 2, signal: null });
  const { format, cells } = JSON.parse(command.stdout());
  expect([format, cells.length]).toEqual([2, 4]);
  expect(cells.at(-1)).toMatchObject({
    stage: 'fair',
    verdict: 'unknown',
    reason: 'The model checker was interrupted.',
  });
});
