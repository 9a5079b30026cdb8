import { expect, test } from 'vitest';
import { renderBenchPage } from '../../../loadtest/bench/page.ts';
import { sampleBench } from './sample-bench.ts';

test('the page of a bench: the median of each lock stands in a chart, a lock that was none is marked, no option is markup', () => {
  const page = renderBenchPage(sampleBench());

  expect(page).toMatch(
    /<title>Acquisitions per second, .*<desc>.* cohort: 7,600\..* peer:async-mutex ✘: 8,000\.<\/desc>/s,
  );
  expect(page).toMatch(/<title>Waits, .*<desc>serial-ceiling: p50 80 ms, p99 220 ms, max 300 ms\./s);
  expect(page).toContain('the lease &lt;30 s&gt;');
  expect(page).not.toMatch(/NaN|undefined|Infinity|<script|https?:/);
});
