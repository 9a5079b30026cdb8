import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { SavedRun } from '../../live/contract.ts';
import { ownRuns } from '../loadtest/commands/command-under-test.ts';

const drill = ownRuns('live/drill.ts');
const dir = mkdtempSync(join(tmpdir(), 'saved-drill-'));
const file = join(dir, 'run.html');
afterAll(() => rmSync(dir, { recursive: true }));

// How such a file plays in a browser: page.test.ts.
describe('npm run drill -- --save', () => {
  test('a place that can not be written, and what can not be kept, is told before anything is started', async () => {
    for (const [args, says] of [
      [['crashed-holder', '--stage', '3', '--save', dir], `${dir} can't be written: `],
      [['crashed-holder', '--stage', '3,4', '--save', file], 'keeps one run: name one stage'],
    ] as const) {
      const { code, stdout, stderr } = await drill([...args]);
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
    }
    expect(readdirSync(dir)).toEqual([]);
  });

  test('the run is kept as one file, which says where it is, and the exit code is that of the drill', async () => {
    const args = ['nested-call', '--stage', '7', '--lease', '3000', '--save', file];
    const { code, stdout, stderr } = await drill(args);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^ +\d+\.\d\d s {2}\S.*✔ holds .*Expected: this stage holds here\..*The run is kept in \S*run\.html/ms,
    );
    const [, run = ''] =
      /<script type="application\/json" id="run">(.*?)<\/script>/s.exec(readFileSync(file, 'utf8')) ?? [];
    const { changes } = JSON.parse(run) as SavedRun;
    const verdicts = changes.flatMap(({ message }) => message.views?.[0]?.verdict ?? []);
    expect(verdicts).toMatchObject([{ verdict: 'pass', taught: 'pass' }]);
  });
});
