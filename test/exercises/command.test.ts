import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Exercise, exercisesDir, readExercises } from '../../exercises/workshop/exercise.ts';
import { readState } from '../../exercises/workshop/state.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { concurrentCommand } from '../loadtest/commands/command-under-test.ts';

const FILE = 'exercises/workshop/workshop.ts';
const workshop = concurrentCommand(FILE, 2);
const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

/** Exercises 02, 04 and 05 in a folder of their own, with files as they were, and the settings that lead the command there. */
function own() {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-command-'));
  roots.push(root);
  const folder = join(root, 'exercises');
  mkdirSync(folder);
  symlinkSync(join(projectDir, 'locks'), join(root, 'locks'));
  cpSync(join(exercisesDir, 'originals'), join(folder, 'originals'), { recursive: true });
  for (const { name, original, number } of readExercises()) {
    if (![2, 4, 5].includes(number)) continue;
    cpSync(join(exercisesDir, name), join(folder, name), { recursive: true });
    cpSync(original, join(folder, name, 'lock.ts'));
  }
  const env = {
    WORKSHOP_EXERCISES: folder,
    WORKSHOP_PROGRESS: join(root, '.workshop.json'),
    WORKSHOP_STATE: join(root, 'workshop.json'),
    NO_COLOR: '1',
  };
  const exercises = readExercises(folder) as [Exercise, Exercise, Exercise];
  const solve = (...which: number[]) => {
    for (const at of which) cpSync((exercises[at] as Exercise).solution, (exercises[at] as Exercise).file);
  };
  return { env, exercises, solve, progress: env.WORKSHOP_PROGRESS };
}

describe('npm run workshop', { timeout: 120_000 }, () => {
  describe('check', () => {
    test('1: not all are solved; each that is not shows why', async () => {
      const { env, solve } = own();
      solve(1);

      const { code, stdout, stderr } = await workshop(['check'], { env });

      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      expect(stdout).toMatch(
        /^✘ 02-recursive-retry .*A and B are inside at the same time\..*^✔ 04-ttl .*^✘ 05-owner-check .*A {2}DEL lock → 1/ms,
      );
      expect(stdout).toMatch(/^1 of 3 solved\.$/m);
    });

    test('0: those that are named are solved, by number or name', async () => {
      const { env, solve } = own();
      solve(0, 2);

      const { code, stdout, stderr } = await workshop(['check', '5', '02-recursive-retry'], { env });

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^✔ 02.*\n✔ 05.*\n\n2 of 2 solved\.\n$/);
    });

    test('0, --drills: they hold on real servers as well', async () => {
      const { env, solve } = own();
      solve(1);
      expect(await workshop(['check', '4', '--drills', '--json'], { env })).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/"drill": "crashed-holder",\s+"verdict": "pass"/),
        stderr: '',
      });
    });

    test('1, --json: nothing but JSON, with the steps', async () => {
      const { env, exercises } = own();
      writeFileSync(exercises[2].file, 'export const createLock =;');

      const { code, stdout } = await workshop(['check', '4', '5', '--json'], { env });

      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        format: 1,
        solved: 0,
        exercises: [
          {
            name: '04-ttl',
            solved: false,
            search: {
              verdict: 'fails',
              says: 'Nobody has entered within two leases (1800 ms) of the crash.',
              scopes: [
                { scope: 'plain', verdict: 'holds' },
                { scope: 'crashed-holder', verdict: 'fails' },
              ],
              counterexample: {
                scope: 'crashed-holder',
                steps: expect.arrayContaining([expect.objectContaining({ what: 'is killed' })]),
              },
            },
          },
          {
            name: '05-owner-check',
            solved: false,
            search: { verdict: 'broken', says: expect.stringMatching(/lock\.ts:1: Unexpected ";"\.$/) },
          },
        ],
      });
    });

    test.each([
      { args: ['check', '77'], says: 'The workshop could not go on: there is no exercise 77.' },
      { args: ['reset', 'four'], says: 'The workshop could not go on: there is no exercise four.' },
      { args: ['9'], says: 'The workshop could not go on: there is no exercise 9.' },
      { args: ['check', '--fast'], says: "error: unknown option '--fast'" },
      { args: ['reset'], says: "error: missing required argument 'exercises'" },
      { args: ['reset'], says: 'For example, to begin exercise 4 anew: npm run workshop -- reset 04' },
      { args: [], says: 'The workshop needs a terminal. Without one, judge the files: npm run workshop -- check' },
      { args: ['5'], says: 'The workshop needs a terminal.' },
    ])('2: $args', async ({ args, says }) => {
      const { code, stdout, stderr } = await workshop(args, { env: own().env });
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
      expect(stderr).not.toMatch(/ {4}at /);
    });

    test('2: an exercise that can’t be read is named', async () => {
      const { env, exercises } = own();
      writeFileSync(join(exercises[0].file, '../predict.json'), '{');
      const { code, stderr } = await workshop(['check'], { env });
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/^The workshop could not go on: 02-recursive-retry\/predict\.json is no JSON: /),
      });
    });

    test('the reader of the output goes: it ends, and leaves nothing and no trace of the stack', async () => {
      const { env } = own();
      const { code, stderr } = await workshop(['check'], {
        env,
        meanwhile: async (command) => {
          await command.prints(/✘ 02/);
          command.child.stdout?.destroy();
        },
      });
      expect({ code, stderr }).toEqual({ code: 2, stderr: 'The workshop could not go on: stopped before the end\n' });
    });

    test('2: interrupted, it leaves nothing', async () => {
      const { env } = own();
      const { code, stderr } = await workshop(['check'], {
        env,
        meanwhile: async (command) => {
          await command.prints(/✘ 02/);
          command.child.kill('SIGINT');
        },
      });
      expect({ code, stderr }).toEqual({ code: 2, stderr: 'The workshop could not go on: stopped before the end\n' });
    });
  });

  test('reset: the file is as it was, though it had gone, and what was done is forgotten', async () => {
    const { env, exercises, progress } = own();
    const [first, second] = exercises;
    writeFileSync(
      progress,
      JSON.stringify({ format: 1, exercises: { [first.name]: { isSolved: true }, [second.name]: { isSolved: true } } }),
    );
    rmSync(first.file);

    const { code, stdout } = await workshop(['reset', '02'], { env });

    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/lock\.ts is as it was, and the exercise begins anew\.\n$/),
    });
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

  test('a prediction, its verdict, a save, and the end: Ctrl-C leaves no process', async () => {
    const { env, exercises, progress } = own();
    const command = [process.execPath, ...node, '4'].map((word) => `'${word}'`).join(' ');
    const { PATH, HOME, TMPDIR = tmpdir() } = process.env;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: projectDir,
      env: { PATH, HOME, TMPDIR, TERM: 'xterm', ...env },
    });
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    const shows = (pattern: RegExp) =>
      vi.waitFor(() => expect(shown.replace(/\s+/g, ' ')).toMatch(pattern), { timeout: 60_000 });
    const ended = new Promise<number | null>((resolve) => terminal.once('close', resolve));

    await shows(/A node dies, and the shop is closed.*What do you expect\?/s);
    expect(readState(env.WORKSHOP_STATE)).toMatchObject({ exercise: { name: '04-ttl' }, phase: 'open' });
    terminal.stdin.write('d');
    await shows(/Nobody has entered within two leases \(1800 ms\) of the crash\..*That is right\./s);
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
