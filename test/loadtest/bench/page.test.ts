import { expect, test } from 'vitest';
import { renderBenchPage } from '../../../loadtest/bench/page.ts';
import { sampleBench } from './sample-bench.ts';

test('the page of a bench: the median of each lock stands in a chart, a lock that was none is marked', () => {
  const page = renderBenchPage(sampleBench());

  expect(page).toMatch(/>cohort<.*?>7,600 .*>peer:async-mutex ✘<.*?>8,000</s);
  expect(page).toContain('NOT ALONE: lost 2,700 of 7,500');
  expect(page).not.toMatch(/NaN|undefined|Infinity|<script|https?:/);
});
