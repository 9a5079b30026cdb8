// What a run shows in Chinese has no English sentence in it, and its JSON no Chinese one.

import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Results, resultsSchema, type StageResult } from '../../../loadtest/evidence/results.ts';
import { runCell, type World } from '../../../loadtest/harness/drill.ts';
import { speak } from '../../../loadtest/narration/language.ts';
import { drillsIn, exerciseDrills } from '../../../loadtest/orders/index.ts';
import { allQuestionsInChinese } from '../../../loadtest/report/cells.ts';
import { renderTables } from '../../../loadtest/report/markdown.ts';
import { renderPage } from '../../../loadtest/report/page.ts';
import { createNarrator } from '../../../loadtest/run/narrator.ts';
import { drills, pagesAside } from '../../../loadtest/scenarios/index.ts';
import { checkNames } from '../../../loadtest/staircase/conformance.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';
import { orderStaircases } from '../../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { sampleResults } from './sample-results.ts';

const names: Record<string, string[]> = {
  '1-in-process': ['rush', 'sell-out'],
  '3-spin': ['crashed-holder', 'three-clerks'],
  '4-ttl': ['crashed-holder', 'slow-holder'],
  '5-owner-check': ['late-release'],
  '8-auto-renew': ['paused-process', 'redis-outage', 'overtaking', 'frozen-master'],
};
const world: World = {
  isVirtual: true,
  play: async ({ drill, stage }) => ({ outcome: (await playDrill(drill, stage)).outcome }),
};
const stages: StageResult[] = [];
let results: Results;

beforeAll(async () => {
  for (const [stage, wanted] of Object.entries(names)) {
    const cells = drills.filter(({ name }) => wanted.includes(name)).map((drill) => ({ stage, drill }));
    const records = [];
    for (const cell of cells) records.push(await runCell(cell, world));
    stages.push({
      stage,
      lockVersion: Number.parseInt(stage, 10),
      drills: records.map(({ says: _, ...each }) => each),
    });
  }
  results = { ...sampleResults(), stages, ...judgeRun(stages, []) };
});

beforeEach(() => speak('zh'));
afterEach(() => speak('en'));

/** Three words in a row, of which two begin small. */
const ENGLISH = /[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}/;
const englishIn = (text: string) => text.split('\n').filter((line) => ENGLISH.test(line));

test.each([
  ['a story', true],
  ['a line for each cell', false],
])('%s: no English sentence, and the columns stand below each other', (_what, isStory) => {
  let text = '';
  const out = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const cells = stages.flatMap(({ stage }) => drills.map((drill) => ({ stage, drill })));
  const narrator = createNarrator(out as unknown as NodeJS.WriteStream, cells, { isStory });
  for (const { stage, drills: found } of stages) {
    for (const result of found) {
      narrator.cell?.({ stage, drill: drills.find(({ name }) => name === result.drill) as (typeof drills)[number] });
      narrator.result(stage, result);
    }
  }
  narrator.end(results, '/tmp/run');
  const shown = stripVTControlCharacters(text);

  expect(englishIn(shown)).toEqual([]);
  expect(shown).toMatch(isStory ? /^ {2}问题 {2}\S.*\n {2}改动 {2}\S/m : /^\[1\/\d+\] ✘ 1-in-process +rush +重复卖出/m);
  expect(shown).toContain('报告：/tmp/run/report.html');
});

test('the report: its language is said, and no sentence is English; nor in the tables of Markdown', () => {
  const page = renderPage(results).replace(/<(style|pre)>.*?<\/\1>/gs, '');

  expect(page).toContain('<html lang="zh-CN">');
  expect(englishIn(page.replace(/<[^>]+>/g, '\n'))).toEqual([]);
  expect([...page.matchAll(/(?:aria-label|title)="([^"]*)"/g)].flatMap(([, text = '']) => englishIn(text))).toEqual([]);
  expect(englishIn(renderTables(results))).toEqual([]);
});

test('results.json: English, without the facts', () => {
  const json = JSON.stringify(resultsSchema.parse(results));

  expect(json).not.toMatch(/\p{sc=Han}|"facts"/u);
});

test('what each drill and each check asks is there in Chinese', () => {
  const asked = [...drills, ...pagesAside, ...orderStaircases.flatMap(drillsIn), ...exerciseDrills];
  const wanted = [...asked.map(({ name }) => name), ...checkNames];

  expect(wanted.filter((name) => allQuestionsInChinese[name] === undefined)).toEqual([]);
  expect(Object.keys(allQuestionsInChinese).filter((name) => !wanted.includes(name))).toEqual([]);
});
