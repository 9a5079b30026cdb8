import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Exercise } from '../../exercises/workshop/exercise.ts';
import { readState } from '../../exercises/workshop/state.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { ownRuns } from '../loadtest/commands/command-under-test.ts';
import { ownExercises } from './own-exercises.ts';

const FILE = 'exercises/workshop/workshop.ts';
const workshop = ownRuns(FILE);

/** Exercises 02, 04 and 05 in a folder of their own, without drills, and the settings that lead the command there. */
function own() {
  const { root, folder, exercises } = ownExercises([2, 4, 5]);
  for (const { name } of exercises) {
    const file = join(folder, name, 'exercise.json');
    const { fails, ...settings } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...settings, drills: [], fails: { ...fails, drill: undefined } }));
  }
  const env = {
    WORKSHOP_EXERCISES: folder,
    WORKSHOP_PROGRESS: join(root, '.workshop.json'),
    WORKSHOP_STATE: join(root, 'workshop.json'),
    NO_COLOR: '1',
  };
  return { env, exercises: exercises as [Exercise, Exercise, Exercise], progress: env.WORKSHOP_PROGRESS };
}

describe('npm run workshop', () => {
  test('check: each that is not solved shows why, and it ends with 1', async () => {
    const { env, exercises } = own();
    cpSync(exercises[1].solution, exercises[1].file);

    const { code, stdout, stderr } = await workshop(['check', '2', '04-ttl'], { env });

    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^✘ 02-recursive-retry .*inside at the same time\..*0 ms {2}B {2}begins a sale/s);
    expect(stdout).toMatch(/^✔ 04-ttl .*\n1 of 2 solved\.\n$/ms);
  });

  test('check: interrupted, it ends with 2 and leaves nothing', async () => {
    const ended = await workshop(['check'], {
      env: own().env,
      async meanwhile(command) {
        await command.prints(/✘ 02/);
        command.child.kill('SIGINT');
      },
    });

    const stderr = 'The workshop could not go on: stopped before the end\n';
    expect(ended).toMatchObject({ code: 2, stderr });
  });

  test.each([
    { args: ['reset'], says: 'For example, to begin exercise 4 anew: npm run workshop -- reset 04' },
    { args: ['5'], says: 'The workshop needs a terminal. Without one, judge the files: npm run workshop -- check' },
  ])('$args: it ends with 2, and says why', async ({ args, says }) => {
    const { code, stdout, stderr } = await workshop(args, { env: own().env });

    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
    expect(stderr).not.toMatch(/ {4}at /);
  });

  test('reset: the file is as it was, though it had gone, and what was done is forgotten', async () => {
    const { env, exercises, progress } = own();
    const [first, second] = exercises;
    const done = { [first.name]: { isSolved: true }, [second.name]: { isSolved: true } };
    writeFileSync(progress, JSON.stringify({ format: 1, exercises: done }));
    rmSync(first.file);

    const { code, stdout } = await workshop(['reset', '02'], { env });

    expect(code).toBe(0);
    expect(stdout).toMatch(/lock\.ts is as it was, and the exercise begins anew\.\n$/);
    expect(readFileSync(first.file, 'utf8')).toBe(readFileSync(first.original, 'utf8'));
    expect(Object.keys(JSON.parse(readFileSync(progress, 'utf8')).exercises)).toEqual([second.name]);
  });
});

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

describe.skipIf(!hasScript)('npm run workshop: on a terminal', () => {
  let node: string[];
  beforeAll(async () => {
    node = await bundledArgs(FILE);
  });

  test('a prediction, its verdict, a save, and the end with Ctrl-C', async () => {
    const { env, exercises, progress } = own();
    const command = [process.execPath, ...node, '4'].map((word) => `'${word}'`).join(' ');
    const { PATH, HOME, TMPDIR = tmpdir() } = process.env;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: projectDir,
      env: { PATH, HOME, TMPDIR, TERM: 'xterm', ...env },
    });
    let shown = '';
    const isShown = (pattern: RegExp) => pattern.test(shown.replace(/\s+/g, ' '));
    const shows = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => isShown(pattern) && resolve();
        terminal.stdout.on('data', look);
        look();
      });
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    const ended = new Promise<number | null>((resolve) => terminal.once('close', resolve));

    await shows(/A node dies, and the shop is closed.*What do you expect\?/);
    expect(readState(env.WORKSHOP_STATE)).toMatchObject({ exercise: { name: '04-ttl' }, phase: 'open' });
    terminal.stdin.write('d');
    await shows(/Nobody has entered within two leases \(1800 ms\) of the crash\..*That is right\./);
    cpSync(exercises[1].solution, exercises[1].file);
    await shows(/Solved\./);
    terminal.stdin.write('\x03');

    expect(await ended).toBe(0);
    expect(shown).toMatch(/1 of 3 exercises solved\. Go on with: npm run workshop\r?\n$/);
    expect(JSON.parse(readFileSync(progress, 'utf8'))).toMatchObject({
      at: '04-ttl',
      exercises: { '04-ttl': { chosen: 3, isSolved: true } },
    });
    expect(existsSync(env.WORKSHOP_STATE)).toBe(false);
  });
});
