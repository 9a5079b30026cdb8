import { beforeAll, describe, expect, test } from 'vitest';
import { renderBenchPage } from '../../../loadtest/bench/page.ts';
import { renderTables } from '../../../loadtest/bench/table.ts';
import { sampleBench } from './sample-bench.ts';

describe('the report of a bench', () => {
  let page = '';
  beforeAll(async () => {
    page = await renderBenchPage(sampleBench());
  });

  test('is one file that fetches nothing and runs nothing', () => {
    expect(page).not.toMatch(/<script|<link|<img|https?:\/\/|\ssrc=|@import/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  test('tells the order: rates, ratios, CPU time, commands, waits, all figures, options, how it was run', () => {
    const headings = [...page.matchAll(/<h[12]>(.*?)<\/h[12]>/g)].map(([, heading]) => heading);
    expect(headings).toEqual([
      'The bench',
      'Acquisitions per second',
      'Ratios within this run',
      'CPU time per acquisition',
      'Redis commands per acquisition',
      'How long a waiter waits',
      'All figures at 2 processes × 100 waiters',
      'How the published locks were set',
      'How it was run',
    ]);
  });

  test('the charts tell their figures in words, too', () => {
    const labels = [...page.matchAll(/<svg role="img" aria-label="(.*?)"/g)].map(([, label]) => label);
    expect(labels).toHaveLength(4);
    expect(labels[0]).toMatch(/^Acquisitions per second, 2 processes × 100 waiters\. serial-ceiling: 9,000\./);
    expect(labels[1]).toMatch(/^CPU time per acquisition, .* cohort: 42 µs\./);
    expect(labels[2]).toContain('cohort: 2.1.');
    expect(labels[3]).toContain('cohort: p50 80 ms, p99 220 ms, max 300 ms.');
  });

  test('marks a lock that was not alone, and says why another has no figures', () => {
    expect(page).toContain('peer:async-mutex ✘');
    expect(page).toContain('NOT ALONE: lost 2,700 of 7,500');
    expect(page).toContain('A process of the bench has ended.');
  });

  test('shows each target with what was measured and whether it is reached', () => {
    const row = (name: string) => page.match(new RegExp(`<th>${name}</th>.*?</tr>`, 's'))?.[0].replace(/<.*?>/g, ' ');
    expect(row('cohort/ceiling@100')).toMatch(/0\.92 \(0\.80–0\.95\) +19 % +≥ 0\.85 +✔ reached/);
    expect(row('cohort/handover@100')).toMatch(/0\.80 +0 % +$/);
    expect(row('fair/p99-ideal@1000')).toMatch(/not measured +≤ 1\.3 +$/);
  });

  test('names the options of the published locks, escaped', () => {
    expect(page).toContain('<h3>peer:redlock 5.0.0-beta.2</h3>');
    expect(page).toContain('<code>duration</code>: the lease &lt;30 s&gt;');
  });

  test('a run through nginx has a ratio of its own, and speaks of sales', async () => {
    const http = await renderBenchPage(sampleBench((results) => Object.assign(results, { mode: 'http', ratios: {} })));
    expect(http).toContain('<th>cohort/redis-atomic@100</th>');
    expect(http).not.toContain('cohort/ceiling@100');
    expect(http).toContain('Sales per second');
    expect(http).toContain('100 connections');
  });

  test('says what kept the CPUs awake, and that nothing did', async () => {
    expect(page).toContain('<dt>CPUs kept awake</dt><dd>by 2 spinners (SCHED_IDLE)</dd>');
    const asleep = await renderBenchPage(sampleBench(({ settings }) => Object.assign(settings, { spinners: null })));
    expect(asleep).toContain('<dt>CPUs kept awake</dt><dd>no, they may sleep (--no-spinners)</dd>');
  });

  test('says which ceiling is which', () => {
    expect(page).toMatch(/<b>serial<\/b> is one queue in one process.*<b>handover<\/b> is two\nprocesses/s);
  });
});

test('the tables: a row for each, with the spread of the rate', () => {
  const text = renderTables(sampleBench());
  expect(text).toMatch(/cohort +│ +7,600 \(7,200–9,200\) │ +30\.0 │ +12\.0 │ +2\.1 │/);
  expect(text).toMatch(/6-lua-release .* 40 starved/);
  expect(text).toMatch(/cohort\/ceiling@100 +│ 0\.92 \(0\.80–0\.95\) │ 19 % +│ ≥ 0\.85 │ ✔ reached/);
  expect(text).toContain('CPUs kept awake: by 2 spinners (SCHED_IDLE).');
});
