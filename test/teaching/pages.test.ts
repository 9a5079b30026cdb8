import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { handoutPage } from '../../teaching/handout-page.ts';
import { slidesPage } from '../../teaching/slides.ts';
import { changesIn, LEFT_OUT, stageFacts } from '../../teaching/stages.ts';
import { stages as stageNames } from '../lesson/project-files.ts';
import { ownCommands } from '../loadtest/commands/command-under-test.ts';

const stages = stageFacts();
const [slides, handout] = [slidesPage(stages), handoutPage(stages)];
const start = ownCommands('teaching/handout.ts');

test('stages: all of them, each with a drill that it fails, and with one that it mends and the stage before fails', () => {
  expect(stages.map(({ name }) => name)).toEqual(stageNames);
  for (const [place, { name, left, fixed }] of stages.entries()) {
    expect([name, taughtVerdict(name, left)]).toEqual([name, 'fail']);
    const before = stageNames[place - 1];
    if (before === undefined) continue;
    expect(fixed).not.toEqual([]);
    for (const drill of fixed) {
      expect([drill, taughtVerdict(before, drill), taughtVerdict(name, drill)]).toEqual([drill, 'fail', 'pass']);
    }
  }
});

test('changes: the story is left out, and so is what is far from a change', () => {
  const far = Array.from({ length: 9 }, (_, at) => ` line ${at}`);
  const lines = ['-// Stage 1 · a', '+// Stage 2 · b', ' ', ...far, '+new', ...far, '-old', ' end'];

  const near = [' line 7', ' line 8'];
  expect(changesIn(lines)).toEqual([...near, '+new', ' line 0', ' line 1', LEFT_OUT, ...near, '-old', ' end']);
  expect(changesIn([' same', ' same'])).toEqual([]);
});

test('pages: nothing is fetched from anywhere', () => {
  for (const page of [slides, handout]) {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/(src|href)="(?!#)|@import|url\((?!"data:)/);
  }
});

test('npm run handout: writes both into the folder that is named; a flag that it does not know ends it with 2', async () => {
  const reports = mkdtempSync(join(tmpdir(), 'handout-'));
  onTestFinished(() => rmSync(reports, { recursive: true }));
  const [good, bad] = [
    ['--reports', reports],
    ['--paper', 'A3'],
  ].map((args) => start('teaching/handout.ts', args, {}));

  expect((await good?.ended)?.code).toBe(0);
  expect(readdirSync(join(reports, 'teaching'))).toEqual(['handout.html', 'slides.html']);
  expect((await bad?.ended)?.code).toBe(2);
});
