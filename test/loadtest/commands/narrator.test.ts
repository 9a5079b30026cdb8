import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createStaircaseNarrator, createStoryNarrator } from '../../../loadtest/commands/narrator.ts';
import { drills } from '../../../loadtest/drills/index.ts';
import { rush } from '../../../loadtest/drills/rush.ts';
import type { DrillResult, Results, RushFigures } from '../../../loadtest/evidence/results.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';
import { taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { allCells } from '../../../loadtest/staircase/plan.ts';

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
  environment: {
    node: '',
    os: '',
    cpus: '',
    redis: { kind: 'native', version: '' },
    nginx: '',
    backends: {},
    commit: '',
  },
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
  const before = timers();
  const narrator = createStoryNarrator(createOutput(true).stream);
  narrator.cell({ stage: '1-in-process', drill: rush });
  narrator.progress(1, 2000);
  expect(timers()).toBeGreaterThan(before);

  narrator.end(results({ verdict: 'unknown', leftOut: ['1-in-process rush'], stages: [] }), '/tmp/run');

  expect(timers()).toBe(before);
});

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

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

function drillNamed(name: string) {
  const drill = drills.find((drill) => drill.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);
  return drill;
}

/** What a drill that goes step by step gave under a stage. */
function step(
  stage: string,
  drill: string,
  verdict: DrillResult['verdict'],
  more: Partial<DrillResult> = {},
): DrillResult {
  return {
    drill,
    verdict,
    taught: taughtVerdict(stage, drill),
    reasons: [`A reason for ${drill} under ${stage}.`],
    witnesses: [],
    witnessCount: 0,
    stockOverTime: [],
    durationMs: 2_000,
    ...more,
  };
}

const passed: DrillResult = {
  ...result,
  verdict: 'pass',
  taught: 'pass',
  reasons: ['2,000 units sold, and the stock is 3,000, as expected.'],
  figures: { ...(result.figures as RushFigures), finalStock: 3000, lostUpdates: 0 },
  witnesses: [],
  witnessCount: 0,
};
const crashed = step('3-spin', 'crashed-holder', 'fail', { figures: { keptOutMs: 2_000 } });
const mended = step('4-ttl', 'crashed-holder', 'pass', { figures: { takeoverMs: 1_004 } });
const slow = step('4-ttl', 'slow-holder', 'fail', { figures: { overlaps: 2, enteredMeanwhile: 4 } });

function storyText(isTTY: boolean, cells: [stage: string, result: DrillResult][]) {
  const output = createOutput(isTTY);
  const narrator = createStoryNarrator(output.stream);
  for (const [stage, result] of cells) {
    narrator.cell({ stage, drill: drillNamed(result.drill) });
    narrator.result(stage, result);
  }
  return output.text();
}
/** The lines that tell of a drill under a stage: from its first one to the next drill or stage. */
function linesOf(text: string, title: string, drill: string): string[] {
  const stage = text.slice(text.indexOf(title)).split('\n\n')[0] ?? '';
  const lines = stage.split('\n');
  const from = lines.findIndex((line) => new RegExp(`^  [✔✘?–] ${drill} `).test(line));
  const length = lines.slice(from + 1).findIndex((line) => !line.startsWith(' '.repeat(10)));
  return lines.slice(from, length < 0 ? undefined : from + 1 + length).map((line) => line.trim());
}

describe('story: a stage next to the one before it', () => {
  const text = storyText(false, [
    ['3-spin', crashed],
    ['4-ttl', mended],
    ['4-ttl', slow],
  ]);

  test('what a stage fixes comes with the figure of the stage before next to it', () => {
    expect(linesOf(text, 'Stage 4 · ttl', 'crashed-holder')).toEqual([
      '✔ crashed-holder holds, as taught  does the shop sell again after a holder has crashed?',
      'A reason for crashed-holder under 4-ttl.',
      expect.stringMatching(/3-spin ✘ crashed-holder: none in 2 s$/),
    ]);
  });

  test('the stage’s title tells problem, what failed before, and change', () => {
    expect(text).toMatch(
      /Stage 4 · ttl\n {2}Problem {2}a holder that crashes .*\n.*✘ crashed-holder: none in 2 s\n {2}Change {3}the key expires/,
    );
  });

  test('what a stage still fails stands alone: no other stage is named', () => {
    expect(linesOf(text, 'Stage 4 · ttl', 'slow-holder')).toEqual([
      '✘ slow-holder    fails, as taught  does a holder that was too slow harm the holders after it?',
      'A reason for slow-holder under 4-ttl.',
    ]);
    expect(linesOf(text, 'Stage 3 · spin', 'crashed-holder')).toHaveLength(2);
  });

  test('what the stage before passed already is not shown as fixed, whichever stage failed it earlier', () => {
    const text = storyText(false, [
      ['1-in-process', result],
      ['2-recursive-retry', passed],
      ['3-spin', passed],
    ]);
    expect(linesOf(text, 'Stage 2 · ', 'rush').join('\n')).toMatch(/1-in-process ✘ rush: 742 lost/);
    expect(linesOf(text, 'Stage 3 · ', 'rush').join('\n')).not.toMatch(/1-in-process|742/);
  });

  test('the conflicts of a rush stand next to its speed, and nothing where there were none', () => {
    const contended = { ...result, figures: { ...result.figures, conflicts: 6052 } };
    expect(storyText(false, [['1-in-process', contended]])).toMatch(/ Redis commands a sale · 6,052 conflicts\n/);
    expect(storyText(false, [['1-in-process', result]])).toMatch(/ Redis commands a sale\n/);
  });

  test('a stage whose predecessor was not run names no figure of it', () => {
    const text = storyText(false, [['4-ttl', mended]]);
    expect(linesOf(text, 'Stage 4 · ttl', 'crashed-holder')).toHaveLength(2);
    expect(text).not.toContain('3-spin');
  });

  test('a drill that the servers can’t carry is not applicable, with its reason, and not called as taught', () => {
    const failover = step('8-auto-renew', 'failover', 'not-applicable', {
      reasons: ['This Redis knows no replication.'],
    });
    expect(linesOf(storyText(false, [['8-auto-renew', failover]]), 'Stage 8', 'failover')).toEqual([
      expect.stringMatching(/^– failover {7}not applicable {2}is a sale lost when Redis fails over/),
      'This Redis knows no replication.',
    ]);
  });

  test('a cell that is not as taught says so', () => {
    const [line] = linesOf(storyText(false, [['4-ttl', { ...slow, verdict: 'pass' }]]), 'Stage 4', 'slow-holder');
    expect(line).toMatch(/^✔ slow-holder {4}holds, NOT as taught/);
  });

  test('without a terminal a drill that goes step by step prints nothing before its result', () => {
    const output = createOutput(false);
    createStoryNarrator(output.stream).cell({ stage: '4-ttl', drill: drillNamed('slow-holder') });
    expect(output.text()).not.toContain('slow-holder');
  });

  test('on a terminal its name shows while it runs', () => {
    const output = createOutput(true);
    createStoryNarrator(output.stream).cell({ stage: '4-ttl', drill: drillNamed('slow-holder') });
    expect(output.text()).toContain('slow-holder');
  });
});

describe('staircase: a run of many cells', () => {
  const cells = allCells(
    ['3-spin', '4-ttl'],
    [drillNamed('rush'), drillNamed('crashed-holder'), drillNamed('slow-holder')],
  );
  const emitted: [stage: string, result: DrillResult][] = [
    ['3-spin', passed],
    ['4-ttl', passed],
    ['3-spin', crashed],
    ['4-ttl', mended],
    ['3-spin', step('3-spin', 'slow-holder', 'pass', { figures: { overlaps: 0, keptOutMs: 2_500 } })],
    ['4-ttl', slow],
  ];
  const target = {
    url: 'http://127.0.0.1:8080',
    redis: { kind: 'native' as const, version: 'redis 7' },
    nginx: 'native 1.22',
    backends: {},
  };

  function staircaseText(isTTY: boolean, emitted: [stage: string, result: DrillResult][], more: Partial<Results> = {}) {
    const output = createOutput(isTTY);
    const narrator = createStaircaseNarrator(output.stream, cells, 3);
    narrator.start(target);
    for (const [stage, result] of emitted) {
      narrator.cell({ stage, drill: drillNamed(result.drill) });
      narrator.progress(1, 2_000);
      narrator.result(stage, result);
    }
    const stages = ['3-spin', '4-ttl'].map((stage) => ({
      stage,
      lockVersion: Number.parseInt(stage, 10),
      drills: emitted.flatMap((cell) => (cell[0] === stage ? [cell[1]] : [])),
    }));
    narrator.end(results({ stages, ...judgeRun(stages, more.leftOut ?? []), ...more }), '/tmp/run');
    return output.text();
  }

  test('in plain lines: one for each cell, with its count, the time left and its figure', () => {
    const text = staircaseText(false, emitted);
    const lines = text.split('\n');
    expect(lines[0]).toBe('Two nodes behind nginx (native 1.22) at http://127.0.0.1:8080, redis: native redis 7');
    expect(lines[1]).toMatch(/^6 cells, about \d+ s\.$/);
    expect(lines.filter((line) => line.startsWith('['))).toEqual([
      expect.stringMatching(/^\[1\/6, about \d+ s left\] ✔ 3-spin +rush +0 lost$/),
      expect.stringMatching(/^\[2\/6, about \d+ s left\] ✔ 4-ttl +rush +0 lost$/),
      expect.stringMatching(/^\[3\/6, about \d+ s left\] ✘ 3-spin +crashed-holder none in 2 s$/),
      expect.stringMatching(/^\[4\/6, about \d+ s left\] ✔ 4-ttl +crashed-holder after 1 s$/),
      expect.stringMatching(/^\[5\/6, about \d+ s left\] ✔ 3-spin +slow-holder +waited 2\.5 s$/),
      expect.stringMatching(/^\[6\/6.*\] ✘ 4-ttl +slow-holder +2 .+$/),
    ]);
    expect(text).not.toContain('NOT');
  });

  test('the time left goes down with each cell, with those under load and with the others', () => {
    const text = staircaseText(false, emitted);
    const leftAfter = (count: number) => Number(new RegExp(`\\[${count}/6, about (\\d+) s left`).exec(text)?.[1]);
    const left = [1, 2, 3, 4, 5].map(leftAfter);
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    expect(Number(/^6 cells, about (\d+) s/m.exec(text)?.[1])).toBeGreaterThan(leftAfter(2));
    expect(leftAfter(2)).toBeGreaterThan(leftAfter(5));
  });

  test('the picture comes at the end, a row for each drill and a column for each stage, then verdict and report', () => {
    const text = staircaseText(false, emitted);
    const [, picture = ''] = text.split('\n\n').slice(-4);
    const rows = picture
      .split('\n')
      .filter((line) => line.startsWith('│'))
      .map((line) => line.split('│').map((cell) => cell.trim()));
    expect(rows).toEqual([
      ['', 'stage', '3', '4', ''],
      ['', 'rush', '✔', '✔', ''],
      ['', 'crashed-holder', '✘', '✔', ''],
      ['', 'slow-holder', '✔', '✘', ''],
    ]);
    expect(text).toMatch(/\nAs taught: 5 of 5 cells came out .*\n\nThe report: \/tmp\/run\/report.html\n$/);
  });

  test('a cell that is not as taught is named, in its line and at the end, with its reason', () => {
    const wrong = { ...mended, verdict: 'fail' as const, figures: { keptOutMs: 2_000 } };
    const text = staircaseText(false, [...emitted.slice(0, 3), ['4-ttl', wrong], ...emitted.slice(4)]);
    expect(text).toMatch(/✘ 4-ttl +crashed-holder .*NOT as taught: A reason for crashed-holder under 4-ttl\./);
    expect(text).toContain('Not as taught.');
    expect(text).toContain('  4-ttl crashed-holder: fail, but pass is taught.\n');
    expect(text.match(/NOT as taught/g)).toHaveLength(1);
  });

  test('an unknown cell and one that is not applicable tell their reason', () => {
    const text = staircaseText(false, [
      ['3-spin', { ...crashed, verdict: 'unknown', reasons: ['node-1 was never killed.'] }],
      ['4-ttl', { ...mended, verdict: 'not-applicable', reasons: ['The nodes are not ours.'] }],
    ]);
    expect(text).toMatch(/\? 3-spin +crashed-holder node-1 was never killed\.\n/);
    expect(text).toMatch(/– 4-ttl +crashed-holder The nodes are not ours\.\n/);
    expect(text).toContain('  3-spin crashed-holder: unknown. node-1 was never killed.\n');
  });

  test('a run that was cut short names what was left out', () => {
    const text = staircaseText(false, emitted.slice(0, 5), { leftOut: ['4-ttl slow-holder'] });
    expect(text).toContain('Unknown: the run did not come to its end.');
    expect(text).toContain('  Left out: 4-ttl slow-holder.\n');
  });

  test('on a terminal: a bar with count and time left, the same lines without them, and no timer left behind', () => {
    const before = timers();
    const text = staircaseText(true, emitted);
    expect(text).toMatch(/0\/6 cells, about \d+ s left/);
    expect(text).toMatch(/5\/6 cells, about \d+ s left/);
    expect(text).toMatch(/✘ 3-spin +crashed-holder none in 2 s\n/);
    expect(text).not.toMatch(/\[\d\/6/);
    expect(timers()).toBe(before);
  });

  test('on a terminal, a run that ends in its middle: no timer left behind', () => {
    const before = timers();
    const narrator = createStaircaseNarrator(createOutput(true).stream, cells, 3);
    narrator.start(target);
    expect(timers()).toBeGreaterThan(before);
    narrator.result('3-spin', crashed);
    narrator.end(results({ verdict: 'unknown', leftOut: ['4-ttl rush'], stages: [] }), '/tmp/run');
    expect(timers()).toBe(before);
  });
});
