import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { resultsSchema } from '../../../loadtest/evidence/results.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { lockWith, noModule, writeModule } from '../grade/modules.ts';
import { ownCommands } from './command-under-test.ts';

const file = 'loadtest/commands/grade.ts';
const start = ownCommands(file);
const grade = (...args: string[]) => start(file, args);

test('--new writes a lock to begin with; a drill, the contract and the search judge it, and a file that is missing is told', async () => {
  const lock = noModule('first-lock.ts');
  expect(await grade('--new', lock).ended).toEqual({ code: 0, signal: null });
  expect(readFileSync(lock, 'utf8')).toContain(
    ` from '${relative(dirname(lock), join(projectDir, 'locks/lock.ts'))}';`,
  );

  const wrong = writeModule('wrong-lock.ts', lockWith({ release: 'await redis.del(key);' }));
  const drills = ['--baseline', '6', '--drill', 'nested-call,contract-enter', '--json'];
  const command = grade(wrong, noModule('missing-lock.ts'), ...drills);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(/missing-lock\.ts can't be graded: there is no such file\.\n$/);
  const { stages, grades } = resultsSchema.parse(JSON.parse(command.stdout()));
  expect(stages.map(({ stage, drills }) => [stage, ...drills.map(({ drill, verdict }) => [drill, verdict])])).toEqual([
    ['6-lua-release', ['nested-call', 'fail']],
    ['wrong-lock', ['contract-enter', 'pass'], ['nested-call', 'fail']],
  ]);
  expect(grades?.[0]?.search).toEqual(['nested-call']);
  expect(readFileSync(join(command.reports, 'latest/report.md'), 'utf8')).toContain('0 of 1 drills hold');
});

test('--new: never over a file that is there', async () => {
  const file = writeModule('mine.ts', 'export {};');
  const command = grade('--new', file);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(/can't be written: it is there already/);
  expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('export {};');
});

test('--new: not under a name that no row can have', async () => {
  const file = noModule('My_Lock.ts');
  const command = grade('--new', file);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(/can't be written: .*small letters/);
  expect(existsSync(file)).toBe(false);
});

test('no module is named: refused in one line, with 2', async () => {
  const command = grade();

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(/name a module, such as \.\/my-lock\.ts, or give --peers or --new/);
  expect(command.stderr().trim().split('\n')).toHaveLength(1);
});
