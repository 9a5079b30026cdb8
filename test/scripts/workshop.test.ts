import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Exercise } from '../../workshop/exercises/exercise.ts';
import { ownExercises, solutionOf } from '../workshop/exercises/own-exercises.ts';
import { ownRuns } from './command-under-test.ts';

const FILE = 'scripts/workshop.ts';
const workshop = ownRuns(FILE);

/** Exercises 02, 04 and 05 in a folder of their own, and the settings that lead the command there. */
function own() {
  const { folder, exercises } = ownExercises([2, 4, 5]);
  return {
    env: { WORKSHOP_EXERCISES: folder, NO_COLOR: '1' },
    exercises: exercises as [Exercise, Exercise, Exercise],
  };
}

describe('npm run workshop', () => {
  test('check: each that is not solved shows why, and it ends with 1', async () => {
    const { env, exercises } = own();
    writeFileSync(exercises[1].file, solutionOf(exercises[1]));

    const { code, stdout, stderr } = await workshop(['check', '2', '04-ttl'], { env });

    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^✘ 02-recursive-retry .*inside at the same time\..*0 ms {2}B starts a sale/s);
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

    const stderr = 'The workshop stopped: it was interrupted\n';
    expect(ended).toMatchObject({ code: 2, stderr });
  });

  test('in Chinese: the task of zh-CN.md, and what the model checker found', async () => {
    const { env } = own();
    const { stdout } = await workshop(['4', '--lang', 'zh'], {
      env,
      async meanwhile(command) {
        await command.prints(/按 Ctrl-C 结束/);
        command.child.kill('SIGINT');
      },
    });

    expect(stdout).toMatch(/^一个节点宕机，商店关门\n.*\*\*改一改\*\*.*\n你的文件： {4}\S+lock\.ts\n/s);
    expect(stdout).toMatch(/✘ 04-ttl .*内没有人进入临界区。.*0 毫秒 {2}A 开始一笔销售\n/s);
  });

  test('an exercise that there is not: it ends with 2, and shows those that there are', async () => {
    const { code, stdout, stderr } = await workshop(['99'], { env: own().env });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^error: there is no exercise 99: it must be one of\n {3}2 {2}Two nodes, .*\n {3}4 {2}A node dies/,
    );
  });

  test('reset: the file is as it was, though it had gone', async () => {
    const { env, exercises } = own();
    const [first] = exercises;
    rmSync(first.file);

    const { code, stdout } = await workshop(['reset', '02'], { env });

    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/lock\.ts is as it was\.\n$/) });
    expect(readFileSync(first.file, 'utf8')).toBe(readFileSync(first.original, 'utf8'));
  });

  test('an exercise: its file is judged now and at each save, until Ctrl-C', async () => {
    const { env, exercises } = own();
    const ended = await workshop(['4'], {
      env,
      async meanwhile(command) {
        await command.prints(/Nobody has entered within two leases/);
        writeFileSync(exercises[1].file, solutionOf(exercises[1]));
        await command.prints(/Watching .*lock\.ts: each save is judged\. Press Ctrl-C to stop\.\n.*✔ 04-ttl/s);
        command.child.kill('SIGINT');
      },
    });

    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });
});
