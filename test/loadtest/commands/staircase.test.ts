import { expect, test } from 'vitest';
import { ownCommands } from './command-under-test.ts';
import { cell, drillsOf, readLatest } from './quick-run.ts';

const file = 'loadtest/commands/staircase.ts';
const start = ownCommands(file);

test('in the virtual world: as expected, with the same log each time, and what it lacks is named', async () => {
  const chosen = ['--stage', '3,4,mysql-named', '--drill', 'late-write,crashed-holder,long-wait'];
  const runs = [start(file, chosen), start(file, chosen)];

  expect(await Promise.all(runs.map(({ ended }) => ended))).toEqual(runs.map(() => ({ code: 0, signal: null })));
  const [first, second] = runs.map(readLatest);
  expect(first).toMatchObject({ verdict: 'as-taught', log: expect.stringMatching(/^[0-9a-f]{64}$/), leftOut: [] });
  expect(second?.log).toBe(first?.log);
  const verdictOf = (stage: string, drill: string) => first && cell(first, stage, drill)?.verdict;
  expect(verdictOf('3-spin', 'crashed-holder')).toBe('fail');
  expect(verdictOf('4-ttl', 'crashed-holder')).toBe('pass');
  expect(verdictOf('4-ttl', 'late-write')).toBe('fail');
  expect(verdictOf('4-ttl', 'long-wait')).toBe('not-applicable');
  expect(verdictOf('mysql-named', 'late-write')).toBe('not-applicable');
});

test('Ctrl-C: what was played is reported, and what was left out is named; 2', async () => {
  const command = start(file, [
    '--stage',
    '4,5,6',
    '--drill',
    'rush,sell-out',
    '--requests',
    '2000',
    '--stock',
    '2000',
  ]);
  await command.prints(/\[1\/6/);
  command.child.kill('SIGINT');

  expect((await command.ended).code).toBe(2);
  const results = readLatest(command);
  expect(results.leftOut.length + drillsOf(results).length).toBe(6);
});

test('--markdown prints the staircase as a table, with the run and its day, and nothing else', async () => {
  const command = start(file, ['--stage', '3,4', '--drill', 'crashed-holder,late-write', '--markdown']);

  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stdout().trim().split('\n')).toEqual([
    expect.stringMatching(/^## /),
    '',
    expect.stringMatching(/^\| stage +\| crashed-holder +\| late-write +\|$/),
    expect.stringMatching(/^[|-]+$/),
    expect.stringMatching(/^\| 3-spin +\| ✘ .+ \| ✔ .+ \|$/),
    expect.stringMatching(/^\| 4-ttl +\| ✔ .+ \| ✘ .+ \|$/),
    '',
    expect.stringMatching(/^✔ pass/),
    '',
    expect.stringMatching(/^_From `npm run staircase -- --stage 3,4 .+` on \d+ \w+ \d{4}\._$/),
  ]);
});
