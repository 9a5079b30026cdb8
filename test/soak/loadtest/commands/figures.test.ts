import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { projectDir } from '../../../../scripts/stack/parts.ts';
import { concurrentCommand } from '../../../loadtest/commands/command-under-test.ts';

const run = concurrentCommand('loadtest/commands/figures.ts', 1);
const figures = (args: string[], meanwhile?: Parameters<typeof run>[1]) =>
  run(args, { loadsModules: true, ...meanwhile });

const readRecord = () => readFileSync(join(projectDir, 'docs/measured/figures.json'), 'utf8');
const recorded = readRecord();
afterEach(() => expect(readRecord()).toBe(recorded));

describe('npm run figures', () => {
  test('--page: writes what was recorded, which is there already', async () => {
    const { code, stdout, stderr } = await figures(['--page']);

    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'All figures are up to date.\n', stderr: '' });
  });

  test.each([
    [
      'a run that there is not',
      ['--take', 'speed=reports/latest'],
      /--take.*speed=reports\/latest.*It must be a run and a folder/s,
    ],
    ['a run without a folder', ['--take', 'prove'], /It must be a run and a folder/],
    ['a run that there is not, by --only', ['--only', 'speed'], /It must be one of staircase-beyond, /],
  ])('%s: 2, and a line that says so', async (_case, args, problem) => {
    const { code, stderr } = await figures(args);

    expect(code).toBe(2);
    expect(stderr).toMatch(problem);
  });

  test('a folder without a report: 2, and nothing is recorded', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'no-report-'));
    const { code, stderr } = await figures(['--take', `prove=${empty}`]);
    rmSync(empty, { recursive: true });

    expect(code).toBe(2);
    expect(stderr).toMatch(/^The figures could not be recorded: .*prove\.json/);
  });

  test('Ctrl-C: the run that is under way ends as well, and is not recorded', async () => {
    const { code, stdout, stderr } = await figures(['--only', 'start-4'], {
      async meanwhile(command) {
        await command.prints(/Two nodes behind nginx/);
        command.child.kill('SIGINT');
      },
    });

    expect(code).toBe(2);
    expect(stdout).toContain('[1/1] LOCK_VERSION=4 npm start   (0 ms so far, about 1 min left)');
    expect(stdout).not.toContain('taken from');
    expect(stderr).toContain('The figures could not be recorded: stopped before the end');
  });
});
