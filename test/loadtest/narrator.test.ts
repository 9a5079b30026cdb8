import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { rush } from '../../loadtest/drills/rush.ts';
import { createStoryNarrator } from '../../loadtest/narrator.ts';
import type { DrillResult, Results } from '../../loadtest/results.ts';

/** Where the narrator writes: a terminal of 100 columns, or a file. */
function createOutput(isTTY: boolean) {
  let text = '';
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        text += chunk;
        done();
      },
    }),
    // What cli-progress asks of a terminal.
    { isTTY, columns: 100, rows: 40, cursorTo: () => true, moveCursor: () => true, clearLine: () => true },
  );
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => stripVTControlCharacters(text) };
}

const result: DrillResult = {
  drill: 'rush',
  verdict: 'fail',
  taught: 'fail',
  reasons: ['The stock is 3,742 instead of 3,000: 742 sales lost.'],
  figures: {
    sent: 2000,
    answers: 2000,
    errors: 0,
    received: 2000,
    sold: 2000,
    soldOut: 0,
    lockTimeout: 0,
    failed: 0,
    inDoubt: 0,
    initialStock: 5000,
    expectedStock: 3000,
    finalStock: 3742,
    lostUpdates: 742,
    oversold: 0,
    throughput: 1516,
    latencyMs: { p50: 29, p95: 80, p99: 246, max: 300 },
    redisCommandsPerSale: 2,
    soldByNode: { 'node-1': 1000, 'node-2': 1000 },
  },
  witnesses: ['sale 0812 on node-1 and sale 0815 on node-2 both read stock 57'],
  witnessCount: 1,
  stockOverTime: [],
  durationMs: 1000,
};

const results = (more: Partial<Results>): Results => ({
  format: 1,
  command: 'npm start',
  startedAt: '2026-11-21T10:00:00.000Z',
  durationMs: 1000,
  verdict: 'as-taught',
  verdictReasons: [],
  leftOut: [],
  environment: { node: '', os: '', cpus: '', redis: { kind: 'native', version: '' }, nginx: '', commit: '' },
  settings: { requests: 2000, connections: 100, stock: 5000, units: 1000, leaseMs: 1000 },
  stages: [{ stage: '1-in-process', lockVersion: 1, drills: [result] }],
  ...more,
});

test('narrator: without a terminal the story is plain lines, and the table comes last', () => {
  const output = createOutput(false);
  const narrator = createStoryNarrator(output.stream);
  narrator.cell({ stage: '1-in-process', drill: rush });
  narrator.progress(1, 2000);
  narrator.progress(2000, 2000);
  narrator.result('1-in-process', result);
  narrator.end(results({}), '/tmp/run');

  expect(output.text()).not.toContain('/2000');
  expect(output.text()).toMatch(/Stage 1 · in-process\n {2}Problem {2}two requests read the same stock/);
  expect(output.text()).toMatch(/✘ rush +fails, as taught {2}do two nodes together lose sales\?\n/);
  expect(output.text()).toContain('sale 0812 on node-1 and sale 0815 on node-2 both read stock 57.');
  expect(output.text()).toContain('│ 1-in-process │ 2,000 │    3,000 │ 3,742 │  742 │');
  expect(output.text()).toMatch(/As taught: 1 of 1 cells .*\n\nThe report: \/tmp\/run\/report.html\n$/s);
});

test('narrator: on a terminal a drill shows its progress', () => {
  const output = createOutput(true);
  const narrator = createStoryNarrator(output.stream);
  narrator.cell({ stage: '1-in-process', drill: rush });
  narrator.progress(1, 2000);
  narrator.result('1-in-process', result);

  expect(output.text()).toMatch(/rush .*\/2000/);
});

test('narrator: a run that ends in the middle of a drill leaves no timer that keeps the process alive', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const narrator = createStoryNarrator(createOutput(true).stream);
  narrator.cell({ stage: '1-in-process', drill: rush });
  narrator.progress(1, 2000);
  expect(timers()).toBeGreaterThan(before);

  narrator.end(results({ verdict: 'unknown', leftOut: ['1-in-process rush'], stages: [] }), '/tmp/run');

  expect(timers()).toBe(before);
});

test('narrator: an unknown cell is not called as taught, nor not as taught', () => {
  const output = createOutput(false);
  createStoryNarrator(output.stream).result('1-in-process', {
    ...result,
    verdict: 'unknown',
    reasons: ['Nothing was sold.'],
  });

  expect(output.text()).toMatch(/\? rush +unknown {2}do two nodes/);
  expect(output.text()).not.toContain('taught');
});
