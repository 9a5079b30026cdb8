import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { questionsDir, readQuestions } from '../../live/questions.ts';
import { taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { handoutPage } from '../../teaching/handout-page.ts';
import { slidesPage } from '../../teaching/slides.ts';
import { capital, changesIn, LEFT_OUT, stageFacts } from '../../teaching/stages.ts';
import { stages as stageNames } from '../lesson/project-files.ts';
import { ownCommands } from '../loadtest/commands/command-under-test.ts';

const stages = stageFacts();
const slides = slidesPage(stages);
const handout = handoutPage(stages);
const start = ownCommands('teaching/handout.ts');

test('stages: all of them, each with a drill that it fails, and with one that it mends and the stage before fails', () => {
  expect(stages.map(({ name }) => name)).toEqual(stageNames);
  for (const [place, { name, left, fixed }] of stages.entries()) {
    expect({ name, verdict: taughtVerdict(name, left) }).toEqual({ name, verdict: 'fail' });
    const before = stageNames[place - 1];
    if (before === undefined) continue;
    expect({ name, fixed: fixed.length > 0 }).toEqual({ name, fixed: true });
    for (const drill of fixed) {
      expect([drill, taughtVerdict(before, drill), taughtVerdict(name, drill)]).toEqual([drill, 'fail', 'pass']);
    }
  }
});

test('stages: the commands name drills and stages that there are', () => {
  const drills = stages.flatMap(({ fixed, failed }) => [...fixed, ...failed]);
  for (const { number, commands } of stages) {
    for (const command of commands) {
      const [, drill] = command.match(/(?:--drill |drill -- )([\w-]+)/) ?? [];
      const [, last] = command.match(/--stage (?:\d,)?(\d)/) ?? [];
      expect({ command, known: drills.includes(drill ?? ''), last: Number(last) }).toEqual({
        command,
        known: true,
        last: number,
      });
    }
  }
});

test('changes: the story is left out, and so is what is far from a change', () => {
  const far = Array.from({ length: 9 }, (_, at) => ` line ${at}`);
  const lines = ['-// Stage 1 · a', '+// Stage 2 · b', ' ', ...far, '+new', ...far, '-old', ' end'];

  expect(changesIn(lines)).toEqual([
    ' line 7',
    ' line 8',
    '+new',
    ' line 0',
    ' line 1',
    LEFT_OUT,
    ' line 7',
    ' line 8',
    '-old',
    ' end',
  ]);
  expect(changesIn([' same', ' same'])).toEqual([]);
});

test('slides: each question is one of them, and each question of a stage is there', () => {
  const asked = Object.entries(readQuestions()).flatMap(([stage, questions]) =>
    questions.map(({ drill }) => `${stage}-${drill}`),
  );

  expect(readdirSync(join(projectDir, questionsDir)).filter((file) => file.endsWith('.predict.json'))).toHaveLength(
    stages.length,
  );
  for (const id of asked) expect(slides.split(`id="${id}"`)).toHaveLength(2);
});

test('pages: nothing is fetched from anywhere', () => {
  for (const page of [slides, handout]) {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/(src|href)="(?!#)|@import|url\((?!"data:)/);
  }
});

test('handout: the story of every stage is on it word for word', () => {
  for (const { name, problem, change, leaves } of stages) {
    for (const words of [name, capital(problem), capital(change), capital(leaves)]) {
      expect(handout).toContain(`>${words.replaceAll("'", '&#39;')}<`);
    }
  }
});

test('npm run handout: writes both into the folder that is named; a flag that it does not know ends it with 2', async () => {
  const reports = mkdtempSync(join(tmpdir(), 'handout-'));
  try {
    const good = start('teaching/handout.ts', ['--reports', reports], {});
    expect((await good.ended).code).toBe(0);
    expect(readdirSync(join(reports, 'teaching'))).toEqual(['handout.html', 'slides.html']);
    const bad = start('teaching/handout.ts', ['--paper', 'A3'], {});
    expect((await bad.ended).code).toBe(2);
  } finally {
    rmSync(reports, { recursive: true });
  }
});
