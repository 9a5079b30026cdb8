import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { playCell } from '../../loadtest/worlds/simulated/cell.ts';
import { ownCommands } from './command-under-test.ts';
import { drillsOf, readLatest } from './quick-run.ts';

const file = 'scripts/staircase.ts';
const start = ownCommands(file);
const stage = '4-ttl';

test('in the virtual world: as expected, what it lacks is named, and a cell has one log in every process', async () => {
  const command = start(file, ['--stage', '4', '--drill', 'crashed-holder,late-write,long-wait']);
  expect(await command.ended).toEqual({ code: 0, signal: null });

  const { stages, settings, ...results } = readLatest(command);
  expect(results).toMatchObject({ verdict: 'as-expected', leftOut: [] });
  expect(stages[0]?.drills.map(({ drill, verdict }) => `${drill}: ${verdict}`)).toEqual([
    'long-wait: not-applicable',
    'crashed-holder: pass',
    'late-write: fail',
  ]);
  const logs: string[] = [];
  for (const { drill } of stages[0]?.drills ?? []) logs.push((await playCell({ stage, drill, settings })).log ?? '');
  expect(results.log).toBe(createHash('sha256').update(logs.join('\n')).digest('hex'));
});

test('Ctrl-C: what was played is reported, and what was left out is named; 2', async () => {
  // A rush that takes far longer than the other cell.
  const rush = ['--requests', '50000', '--stock', '50000'];
  const command = start(file, ['--stage', '4', '--drill', 'rush,crashed-holder', ...rush]);
  await command.prints(/\[1\/2/);
  command.child.kill('SIGINT');

  expect((await command.ended).code).toBe(2);
  const results = readLatest(command);
  expect(drillsOf(results)).toEqual([`${stage} crashed-holder`]);
  expect(results.leftOut).toEqual([`${stage} rush`]);
});

test('--markdown prints the staircase as a table, with the run and its day, and nothing else; a terminal shows how far it is', async () => {
  const terminal = { NODE_OPTIONS: '--import=data:text/javascript,process.stderr.isTTY=true' };
  const command = start(file, ['--stage', '3,4', '--drill', 'crashed-holder,late-write', '--markdown'], terminal);

  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stderr()).toContain('4 of 4 ');
  expect(command.stdout().trim().split('\n')).toEqual([
    expect.stringMatching(/^## /),
    '',
    expect.stringMatching(/^\| stage +\| crashed-holder +\| late-write +\|$/),
    expect.stringMatching(/^[|-]+$/),
    expect.stringMatching(/^\| 3-spin +\| ✘ .+ \| ✔ .+ \|$/),
    expect.stringMatching(/^\| 4-ttl +\| ✔ .+ \| ✘ .+ \|$/),
    '',
    expect.stringMatching(/^✔ holds/),
    '',
    expect.stringMatching(/^_From `npm run staircase -- --stage 3,4 .+` on \d+ \w+ \d{4}\._$/),
  ]);
});
