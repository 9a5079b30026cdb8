import { expect, test } from 'vitest';
import { renderBenchPage } from '../../../loadtest/bench/page.ts';
import { renderTables } from '../../../loadtest/bench/table.ts';
import { bodyOf } from '../report/golden.ts';
import { sampleBench } from './sample-bench.ts';

test('the page tells rates, ratios, CPU time, commands, waits, all figures, options, and how it was run', async () => {
  const page = await renderBenchPage(sampleBench());

  await expect(bodyOf(page)).toMatchFileSnapshot('golden/page.txt');
  // A lock that was not alone is marked in the charts, too.
  expect(page).toMatch(/<text[^>]*>[^<]*peer:async-mutex ✘/);
  expect(page).not.toMatch(/<script|<link|<img|https?:\/\/|\ssrc=|@import/);
});

test('the tables of the terminal tell the same', async () => {
  await expect(renderTables(sampleBench())).toMatchFileSnapshot('golden/tables.txt');
});

test('a run through nginx has a ratio of its own and speaks of sales; one without spinners says so', async () => {
  const http = await renderBenchPage(sampleBench((results) => Object.assign(results, { mode: 'http', ratios: {} })));
  const asleep = await renderBenchPage(sampleBench(({ settings }) => Object.assign(settings, { spinners: null })));

  expect(http).toContain('<th>cohort/redis-atomic@100</th>');
  expect(http).not.toContain('cohort/ceiling@100');
  expect(http).toMatch(/Sales per second.*100 connections/s);
  expect(asleep).toContain('<dt>CPUs kept awake</dt><dd>no, they may sleep (--no-spinners)</dd>');
});
