import { expect, test } from 'vitest';
import { renderBenchPage } from '../../../loadtest/bench/page.ts';
import { figureSheet } from '../../../loadtest/bench/table.ts';
import { sampleBench } from './sample-bench.ts';

test('the page of a bench: the median of each lock stands in a chart, a lock that was none is marked', () => {
  const page = renderBenchPage(sampleBench());

  expect(page).toMatch(/>cohort<.*?>7,600 .*>peer:async-mutex ✘<.*?>8,000</s);
  expect(page).toContain('NOT EXCLUSIVE: lost 2,700 of 7,500');
  expect(page).not.toMatch(/NaN|undefined|Infinity|<script|https?:/);
});

test('the page of a bench over HTTP says how many nodes sold', () => {
  const page = renderBenchPage(sampleBench((results) => Object.assign(results, { mode: 'http' })));
  expect(page).toContain('Sales through nginx to two nodes.');
  const onMore = sampleBench((results) => {
    results.mode = 'http';
    results.settings.nodes = [2, 4, 8];
  });
  expect(renderBenchPage(onMore)).toContain('Sales through nginx to 2, 4, 8 nodes.');
});

test('the table of a bench has a column for what was measured of any, and a – where it was not', () => {
  const { head, rows } = figureSheet(
    sampleBench(({ turns }) => {
      for (const { name, figures } of turns) if (name !== 'cohort') delete figures?.p99ToIdeal;
    }),
    100,
  );

  expect(head).not.toContain('nginx µs');
  expect(rows.map(([name, ...cells]) => [name, cells.at(-2)]).slice(2, 4)).toEqual([
    ['6-lua-release', '–'],
    ['cohort', '1.10'],
  ]);
  expect(rows.every((row) => row.length === head.length)).toBe(true);
});
