import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readState, type WorkshopState, writeState } from '../../../exercises/workshop/state.ts';
import { watchWorkshop } from '../../../live/server/watched-workshop.ts';
import { withoutPaths } from '../../../live/server/without-paths.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { failingWorkshop } from '../failing-workshop.ts';

/** How often the file is looked at, in milliseconds. */
const LOOK_MS = 200;

const closing: (() => unknown)[] = [];
// The test says when the file is looked at.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  vi.useRealTimers();
});

const verdict = failingWorkshop.verdict as NonNullable<WorkshopState['verdict']>;

/** The file of a workshop, and what is seen of it. */
function watched() {
  const dir = mkdtempSync(join(tmpdir(), 'watched-workshop-'));
  closing.push(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'reports/workshop.json');
  const onChange = vi.fn();
  const workshop = watchWorkshop({ file, onChange });
  closing.push(workshop.close);
  return {
    file,
    onChange,
    read: workshop.read,
    put(text: string) {
      mkdirSync(join(dir, 'reports'), { recursive: true });
      writeFileSync(file, text);
    },
    write: (state: Partial<WorkshopState>) => writeState({ ...failingWorkshop, ...state }, file),
    /** What is seen when the file was looked at once more. */
    look() {
      vi.advanceTimersByTime(LOOK_MS);
      return workshop.read();
    },
  };
}

describe('the workshop beside the page', () => {
  test('is seen with its verdict and its steps; a later save as well, and its end', () => {
    const { file, read, look, onChange, write } = watched();
    expect(read()).toBeNull();

    write({});
    expect(look()).toEqual({
      number: 4,
      title: 'A node dies',
      question: 'What happens?',
      answers: ['nothing', 'all wait'],
      chosen: 0,
      right: 1,
      is: 'not solved',
      verdicts: [
        { drill: null, verdict: 'fail', reason: 'Nobody has entered within two leases (1800 ms) of the crash.' },
      ],
      counterexample: { scope: 'crashed-holder', steps: verdict.counterexample?.steps },
    });
    expect(onChange).toHaveBeenCalledTimes(1);

    write({ isSolved: true, verdict: { ...verdict, kind: 'holds', says: 'It holds.', counterexample: undefined } });
    expect(look()).toMatchObject({ is: 'solved', verdicts: [{ verdict: 'pass' }], counterexample: null });

    rmSync(file);
    expect(look()).toBeNull();
    expect(onChange).toHaveBeenCalledTimes(3);
  });

  test('that runs already is seen at once, and what has not changed is not told again', () => {
    const { file, write } = watched();
    write({});
    const onChange = vi.fn();
    const workshop = watchWorkshop({ file, onChange });
    closing.push(workshop.close);

    expect(workshop.read()?.number).toBe(4);
    write({ updatedAt: new Date().toISOString(), solved: 4 });
    vi.advanceTimersByTime(10 * LOOK_MS);
    expect(onChange).not.toHaveBeenCalled();
  });

  test('before the prediction is taken: the question, and nothing that answers it', () => {
    const { look, write } = watched();
    const { chosen: _chosen, ...prediction } = failingWorkshop.prediction;
    write({ prediction, isSolved: true });

    expect(look()).toMatchObject({
      is: 'asked',
      chosen: null,
      right: null,
      verdicts: [],
      counterexample: null,
    });
  });

  test.each<[string, Partial<WorkshopState>, string, unknown[]]>([
    ['while the search is at it: the verdict of the file before is not told', { phase: 'judging' }, 'judging', []],
    ['while real servers are at it: that of the search is', { phase: 'running' }, 'running', [{ verdict: 'fail' }]],
    ['where real servers alone judge', { phase: 'open', verdict: undefined }, 'not judged', []],
    [
      'where the search holds, and that does not tell',
      { verdict: { ...verdict, kind: 'holds', counterexample: undefined } },
      'to run',
      [{ verdict: 'pass' }],
    ],
    [
      'after the drill',
      {
        verdict: undefined,
        real: { at: failingWorkshop.updatedAt, drills: [{ drill: 'rush', verdict: 'fail', reason: 'One is lost.' }] },
      },
      'not solved',
      [{ drill: 'rush', verdict: 'fail', reason: 'One is lost.' }],
    ],
    [
      'a file that can’t be judged, with the reason, and no place on this machine',
      {
        verdict: {
          ...verdict,
          kind: 'broken',
          says: `exercises/04-ttl/lock.ts:3: Cannot find ${join(homedir(), 'my lab/secret.ts')}.`,
          counterexample: undefined,
        },
      },
      'not solved',
      [
        {
          verdict: 'broken',
          reason: expect.stringMatching(/^exercises\/04-ttl\/lock\.ts:3: Cannot find (?!.*home|\/)/),
        },
      ],
    ],
  ])('%s', (_when, state, is, verdicts) => {
    const { look, write } = watched();
    write(state);

    const seen = look();
    expect(seen).toMatchObject({ is, verdicts });
    expect(seen?.verdicts).toHaveLength(verdicts.length);
    expect(JSON.stringify(seen)).not.toContain(homedir());
  });
});

describe('no workshop is seen', () => {
  test.each([
    ['in half a file', JSON.stringify(failingWorkshop).slice(0, 400)],
    ['in an empty file', ''],
    ['in what is no JSON', 'the workshop'],
    ['in null', 'null'],
    ['in a list', '[]'],
    ['in the format of another year', JSON.stringify({ ...failingWorkshop, format: 2 })],
    ['without a prediction', JSON.stringify({ ...failingWorkshop, prediction: undefined })],
    [
      'with an answer that is a word',
      JSON.stringify({ ...failingWorkshop, prediction: { ...failingWorkshop.prediction, chosen: 'a' } }),
    ],
    ['of the process 0, which is every process of this group', JSON.stringify({ ...failingWorkshop, pid: 0 })],
    ['of the process -1, which is every process', JSON.stringify({ ...failingWorkshop, pid: -1 })],
    ['from before the machine was started', JSON.stringify({ ...failingWorkshop, updatedAt: '2020-01-01T00:00:00Z' })],
    ['in a file that is far too large', JSON.stringify({ ...failingWorkshop, rest: 'x'.repeat(1_000_000) })],
  ])('%s, and the next one is', (_what, text) => {
    const { look, put, write } = watched();
    put(text);
    expect(look()).toBeNull();
    write({});
    expect(look()).not.toBeNull();
    put(text);
    expect(look()).toBeNull();
  });

  test('whose process has died without taking its file away', async () => {
    const { file, look, write } = watched();
    const other = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
    closing.push(() => other.kill('SIGKILL'));
    write({ pid: other.pid as number });
    expect(look()).not.toBeNull();

    other.kill('SIGKILL');
    await once(other, 'exit');

    expect(look()).toBeNull();
    expect(readState(file)?.pid).toBe(other.pid);
  });

  test.skipIf(process.platform === 'win32')('in a pipe, which would keep a reader waiting', () => {
    const { file, look, write } = watched();
    write({});
    expect(look()).not.toBeNull();
    spawnSync('mkfifo', [`${file}.pipe`]);
    expect(existsSync(`${file}.pipe`)).toBe(true);
    renameSync(`${file}.pipe`, file);

    expect(look()).toBeNull();
  });

  test('in a folder', () => {
    const { file, look, onChange } = watched();
    mkdirSync(file, { recursive: true });
    expect(look()).toBeNull();
    expect(onChange).not.toHaveBeenCalled();
  });
});

test.each([
  ['exercises/04-ttl/lock.ts:14: Expected "(".', 'exercises/04-ttl/lock.ts:14: Expected "(".'],
  [`open '${join(projectDir, 'exercises/04-ttl/x.ts')}'`, "open 'x.ts'"],
  [`${homedir()} is a folder`, '~ is a folder'],
  [
    "Cannot find module '/mnt/ada/lab/x.ts' imported from /mnt/ada/y.ts:3",
    "Cannot find module 'x.ts' imported from y.ts:3",
  ],
  ['file:///mnt/My%20Disk/lab/x.ts:1:2', 'x.ts:1:2'],
  ['../../../tmp/lab-x1/exercises/02/lock.ts:14: Expected.', 'lock.ts:14: Expected.'],
  ['(C:\\Users\\ada\\lab\\x.ts)', '(x.ts)'],
  ['A  SET lock held NX → "OK"', 'A  SET lock held NX → "OK"'],
  ['1/2 of 3 / 4, and/or https://redis.io', '1/2 of 3 / 4, and/or https://redis.io'],
  ['x'.repeat(700), `${'x'.repeat(600)}…`],
])('paths: %s', (text, shown) => {
  expect(withoutPaths(text)).toBe(shown);
});
