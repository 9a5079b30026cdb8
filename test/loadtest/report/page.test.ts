import { expect, test } from 'vitest';
import { renderTables } from '../../../loadtest/report/markdown.ts';
import { renderPage } from '../../../loadtest/report/page.ts';
import { sampleWithSteps } from './sample-results.ts';

test('a full run: the page has a part for each cell, and needs nothing but itself', () => {
  const page = renderPage(sampleWithSteps());
  const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

  expect(ids).toEqual([...new Set(ids)]);
  expect(ids).toEqual(expect.arrayContaining(targets));
  expect(targets.length).toBeGreaterThan(27);
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
  expect(page).not.toMatch(/https?:|\/\/[a-z]|@import|url\(|<(script|link|img|iframe|object|embed)\b/i);
  expect(page).not.toMatch(/ (?:src|srcset|xlink:href|action|poster)=| href="(?!#)/);
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
});

test.each([
  ['all stages are folded', sampleWithSteps(), 9, 0],
  ['one stage is open', sampleWithSteps((results) => results.stages.splice(0, 8)), 1, 1],
])('%s; inside, the drills of its lesson are open', (_what, results, stages, open) => {
  const page = renderPage(results);

  expect(page.match(/<details class="stage( many)?"/g)).toHaveLength(stages);
  expect(page.match(/<details class="stage( many)?" open>/g) ?? []).toHaveLength(open);
  for (const [, attributes = ''] of page.matchAll(/<details class="drill matters"(.*?)>/g))
    expect(attributes).toBe(' open');
  expect(page).toMatch(/<details class="drill">\n<summary>.*rush: holds/);
  expect(page.includes('<nav')).toBe(stages > 1);
});

test('text from outside cannot become markup, nor break a table of the text', () => {
  const evil = `</style><script>alert("1 & 2")</script>|\n# \`x\` <img src=x onerror='x'>`;
  const results = sampleWithSteps((results) => {
    results.stages = results.stages.slice(3, 5);
    const [stage, { drills = [] } = {}] = results.stages;
    Object.assign(stage ?? {}, { stage: evil });
    for (const result of drills) Object.assign(result, { drill: evil, evidence: [evil], reasons: [evil] });
    for (const { figures, timeline } of drills) {
      Object.assign(figures ?? {}, { [evil]: 1 });
      for (const lane of timeline?.lanes ?? []) Object.assign(lane, { node: evil, saleId: evil });
      for (const fault of timeline?.faults ?? []) Object.assign(fault, { node: evil, label: evil });
    }
    Object.assign(results, { verdictReasons: [evil], leftOut: [evil], command: evil });
    results.environment.commit = evil;
  });
  const page = renderPage(results);
  // Below the tables stands the command, as the user typed it.
  const [text = ''] = renderTables(results).split('_From ');

  expect(page).not.toMatch(/<script|<img|<\/style>(?=.*<\/style>)/s);
  expect(page.split('&lt;script&gt;').length).toBeGreaterThan(20);
  expect(text).not.toMatch(/^# .*\bx\b|(?<!\\)<(script|img)|[^\\]`/m);
  for (const table of text.split('\n\n').filter((block) => block.startsWith('|'))) {
    const lines = table.trim().split('\n');
    expect(new Set(lines.map((line) => line.split(/(?<!\\)\|/).length)).size, table).toBe(1);
  }
});
