import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { resultsSchema } from '../../loadtest/evidence/results.ts';
import { projectDir } from '../../stack/parts.ts';
import { lockWith, noModule, writeModule } from '../loadtest/grade/modules.ts';
import { ownCommands } from './command-under-test.ts';

const file = 'scripts/grade.ts';
const start = ownCommands(file);
const grade = (...args: string[]) => start(file, args);

test('--new writes a lock to begin with; a drill, the contract and the search judge it, and a file that is missing is told', async () => {
  const lock = noModule('first-lock.ts');
  expect(await grade('--new', lock).ended).toEqual({ code: 0, signal: null });
  expect(readFileSync(lock, 'utf8')).toContain(
    ` from '${relative(dirname(lock), join(projectDir, 'locks/lock.ts'))}';`,
  );

  const wrong = writeModule('wrong-lock.ts', lockWith({ release: 'await redis.del(key);' }));
  const drills = ['--baseline', '8', '--drill', 'nested-call,contract-enter', '--json'];
  const command = grade(wrong, noModule('missing-lock.ts'), ...drills);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(/missing-lock\.ts can't be graded: there is no such file\.\n$/);
  const { stages, grades } = resultsSchema.parse(JSON.parse(command.stdout()));
  expect(stages.map(({ stage, drills }) => [stage, ...drills.map(({ drill }) => drill)])).toEqual([
    ['8-auto-renew', 'nested-call'],
    ['wrong-lock', 'contract-enter', 'nested-call'],
  ]);
  expect(readdirSync(join(command.reports, 'latest/events')).filter((name) => name.includes('contract'))).toEqual([]);
  expect(grades?.[0]?.search).toMatchObject([{ scope: 'nested-call', verdict: 'fails' }]);
  expect(grades?.[0]?.answer).toMatchObject({ verdict: 'holds', notPromised: [{ kind: 'order' }, { kind: 'drill' }] });
  expect(readFileSync(join(command.reports, 'latest/report.html'), 'utf8')).toContain(
    'wrong-lock breaks none of its promises',
  );
});

test('--real with checks alone starts no server', async () => {
  const lock = writeModule('checked-lock.ts', lockWith({}));
  const args = ['--baseline', 'none', '--states', '0', '--real', '--drill', 'contract-enter', '--json'];
  const command = grade(lock, ...args);

  expect(await command.ended, command.stderr()).toEqual({ code: 0, signal: null });
  expect(resultsSchema.parse(JSON.parse(command.stdout())).environment.nginx).toBe('virtual');
});

test.each([
  ['over a file that is there', writeModule('mine.ts', 'export {};'), /it already exists/],
  ['under a name that no row can have', noModule('My_Lock.ts'), /lower case/],
])('--new: not %s', async (_what, lock, why) => {
  const command = grade('--new', lock);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(why);
  expect(existsSync(lock) ? readFileSync(lock, 'utf8') : 'export {};').toBe('export {};');
});
