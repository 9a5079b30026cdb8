import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { SavedRun } from '../../live/contract.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { concurrentCommand } from '../loadtest/commands/command-under-test.ts';

const drill = concurrentCommand('live/drill.ts', 1);
const dir = mkdtempSync(join(tmpdir(), 'saved-drill-'));
const file = join(dir, 'run.html');
afterAll(() => rmSync(dir, { recursive: true }));

// How such a file plays in a browser: page.test.ts, and at each of its moments test/soak/live/saved-drill.test.ts.
describe('npm run drill -- --save', () => {
  test('the run is kept as one file, which says where it is, and the exit code is that of the drill', async () => {
    const { code, stdout, stderr } = await drill([
      '--stage',
      '7',
      '--drill',
      'nested-call',
      '--lease',
      '3000',
      '--save',
      file,
    ]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/✔ holds, as taught.*The run is kept in \S*run\.html/s);
    const [, run = ''] =
      /<script type="application\/json" id="run">(.*?)<\/script>/s.exec(readFileSync(file, 'utf8')) ?? [];
    const { changes } = JSON.parse(run) as SavedRun;
    const verdicts = changes.flatMap(({ message }) => message.views?.[0]?.verdict ?? []);
    expect(verdicts).toMatchObject([{ verdict: 'pass', taught: 'pass' }]);
  });

  test('a drill that has nothing to break there keeps nothing', async () => {
    const kept = join(projectDir, 'reports/1-in-process.late-release.html');
    const { code, stdout } = await drill(['late-release', '--stage', '1', '--save']);

    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/– not applicable/) });
    expect(stdout).not.toContain('is kept');
    expect(existsSync(kept)).toBe(false);
  });

  const taken = join(dir, 'taken');
  writeFileSync(taken, '');
  const said = (place: string) => new RegExp(`^The drill could not be run: ${place} can't be written: \\S+.*\\n$`);
  test.each([
    // Told before anything is started.
    { args: ['crashed-holder', '--stage', '3', '--save', dir], says: said(dir) },
    {
      args: ['crashed-holder', '--stage', '3', '--save', join(taken, 'run.html')],
      says: said(join(taken, 'run.html')),
    },
    { args: ['crashed-holder', '--stage', '3,4', '--save', file], says: /keeps one run: name one stage/ },
    { args: ['--stage', '3', '--save', 'crashed-holder'], says: /name a drill before the options/ },
    { args: ['crashed-holder', '--drill', 'late-release', '--stage', '5'], says: /one drill at a time/ },
    { args: ['double-click', '--idempotency', 'lock', '--save'], says: /drills of a lock/ },
  ])('$args is not allowed', async ({ args, says }) => {
    const { code, stdout, stderr } = await drill(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
  });
});
