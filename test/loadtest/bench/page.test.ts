import { expect, test } from 'vitest';
import { renderBenchPage } from '../../../loadtest/bench/page.ts';
import { textOf } from '../report/golden.ts';
import { sampleBench } from './sample-bench.ts';

test('the page tells rates, ratios, waits, options, and how it was run, and marks a lock that was not alone', async () => {
  const page = await renderBenchPage(sampleBench());
  const text = textOf(page);

  for (const line of [
    /Acquisitions per second, 2 processes × 100 waiters\. serial-ceiling: 9,000\..* peer:async-mutex: 8,000\./,
    /^cohort\/ceiling@100 .*0\.92 \(0\.80–0\.95\) · 19 % · ≥ 0\.85 · ✔ reached/m,
    /Waits, 2 processes × 100 waiters\. serial-ceiling: p50 80 ms, p99 220 ms, max 300 ms\./,
    /^peer:async-mutex .*NOT ALONE: lost 2,700 of 7,500/m,
    /peer:redlock 5\.0\.0-beta\.2\nduration: the lease &lt;30 s&gt;/,
    /CPUs kept awake by 2 spinners/,
  ])
    expect(text).toMatch(line);
  expect(page).toMatch(/<text[^>]*>[^<]*peer:async-mutex ✘/);
  expect(page).not.toMatch(/<script|<link|<img|https?:\/\/|\ssrc=|@import/);
});

test('a run through nginx has a ratio of its own and speaks of sales', async () => {
  const http = await renderBenchPage(sampleBench((results) => Object.assign(results, { mode: 'http', ratios: {} })));

  expect(http).toContain('<th>cohort/redis-atomic@100</th>');
  expect(http).not.toContain('cohort/ceiling@100');
  expect(http).toMatch(/Sales per second.*100 connections/s);
});
