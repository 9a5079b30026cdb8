import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
  vi.useRealTimers();
});

const verdict = failingWorkshop.verdict as NonNullable<WorkshopState['verdict']>;

/** The file of a workshop, and what is seen of it. */
function watched() {
  const dir = mkdtempSync(join(tmpdir(), 'watched-workshop-'));
  closing.push(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'reports/workshop.json');
  mkdirSync(join(dir, 'reports'));
  const onChange = vi.fn();
  const workshop = watchWorkshop({ file, onChange });
  closing.push(workshop.close);
  return {
    file,
    onChange,
    write: (state: Partial<WorkshopState>) => writeState({ ...failingWorkshop, ...state }, file),
    /** What is seen when the file was looked at once more. */
    look() {
      vi.advanceTimersByTime(LOOK_MS);
      return workshop.read();
    },
  };
}

describe('the workshop beside the page', () => {
  test('is seen with its verdict and its steps; a later save as well, and its end; what has not changed is no news', () => {
    const { file, look, onChange, write } = watched();
    expect(look()).toBeNull();

    write({});
    expect(look()).toEqual({
      number: 4,
      title: 'A node dies',
      question: 'What happens?',
      answers: ['nothing', 'all wait'],
      chosen: 0,
      right: 1,
      is: 'not solved',
      verdicts: [{ drill: null, verdict: 'fail', reason: verdict.says }],
      counterexample: { scope: 'crashed-holder', steps: verdict.counterexample?.steps },
    });
    write({ updatedAt: new Date().toISOString() });
    look();
    expect(onChange).toHaveBeenCalledTimes(1);

    write({ isSolved: true, verdict: { ...verdict, kind: 'holds', says: 'It holds.', counterexample: undefined } });
    expect(look()).toMatchObject({ is: 'solved', verdicts: [{ verdict: 'pass' }], counterexample: null });
    rmSync(file);
    expect(look()).toBeNull();
    expect(onChange).toHaveBeenCalledTimes(3);
  });

  test('before the prediction is taken: the question, and nothing that answers it', () => {
    const { look, write } = watched();
    const { chosen: _chosen, ...prediction } = failingWorkshop.prediction;
    write({ prediction, isSolved: true });

    const nothing = { chosen: null, right: null, verdicts: [], counterexample: null };
    expect(look()).toMatchObject({ is: 'asked', ...nothing });
  });

  const holds = { ...verdict, kind: 'holds' as const, counterexample: undefined };
  const broken = { ...holds, kind: 'broken' as const, says: `lock.ts:3: no ${join(homedir(), 'my lab/secret.ts')}.` };
  const drills = [{ drill: 'rush', verdict: 'fail' as const, reason: 'One is lost.' }];
  test.each<[string, Partial<WorkshopState>, string, unknown[]]>([
    ['while the search is at it: the verdict of the file before is not told', { phase: 'judging' }, 'judging', []],
    ['after the drill', { verdict: undefined, real: { at: failingWorkshop.updatedAt, drills } }, 'not solved', drills],
    [
      'a file that can’t be judged, with no place on this machine',
      { verdict: broken },
      'not solved',
      [{ verdict: 'broken', reason: expect.stringMatching(/^lock\.ts:3: no (?!.*home|\/)/) }],
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
  const { prediction } = failingWorkshop;
  test.each<[string, string]>([
    ['in half a file', JSON.stringify(failingWorkshop).slice(0, 400)],
    [
      'with an answer that is a word',
      JSON.stringify({ ...failingWorkshop, prediction: { ...prediction, chosen: 'a' } }),
    ],
    ['of the process 0, which is every process of this group', JSON.stringify({ ...failingWorkshop, pid: 0 })],
  ])('%s, and the next one is', (_what, text) => {
    const { file, look, write } = watched();
    writeFileSync(file, text);
    expect(look()).toBeNull();
    write({});
    expect(look()).not.toBeNull();
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
});

test.each([
  [`open '${join(projectDir, 'exercises/04-ttl/x.ts')}'`, "open 'x.ts'"],
  ["module '/mnt/ada/lab/x.ts' imported from /mnt/ada/y.ts:3", "module 'x.ts' imported from y.ts:3"],
  ['../../../tmp/lab-x1/exercises/02/lock.ts:14: Expected.', 'lock.ts:14: Expected.'],
])('paths: %s', (text, shown) => {
  expect(withoutPaths(text)).toBe(shown);
});
