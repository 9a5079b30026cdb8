import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { DrillResult, Results } from '../../../loadtest/evidence/results.ts';
import { createNarrator } from '../../../loadtest/run/narrator.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';
import { cellOf, sampleResults } from '../report/sample-results.ts';
import { stepResult } from '../report/sample-steps.ts';

/** Where the narrator writes. */
function createOutput() {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => stripVTControlCharacters(text) };
}

function drillNamed(name: string) {
  const drill = drills.find((drill) => drill.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);
  return drill;
}

type Emitted = [stage: string, result: DrillResult];

/** The results of a run of these cells, judged. */
function resultsOf(emitted: Emitted[]): Results {
  const stages = [...new Set(emitted.map(([stage]) => stage))].map((stage) => ({
    stage,
    lockVersion: Number.parseInt(stage, 10),
    drills: emitted.flatMap((cell) => (cell[0] === stage ? [cell[1]] : [])),
  }));
  return sampleResults((results) => Object.assign(results, { stages, ...judgeRun(stages, []) }));
}

const rushOf = (stage: string) => cellOf(sampleResults(), stage, 'rush');
const slow = stepResult(4, 'slow-holder');

function tellStory(cells: Emitted[]) {
  const output = createOutput();
  const narrator = createNarrator(output.stream, [], { isStory: true });
  for (const [stage, result] of cells) {
    narrator.cell?.({ stage, drill: drillNamed(result.drill) });
    narrator.progress?.(1, 2000);
    narrator.result(stage, result);
  }
  narrator.end(resultsOf(cells), '/tmp/run');
  return output.text();
}

test.each(['rush', 'sell-out'])('the final table of a story fits 80 columns: %s', (drill) => {
  const stages = sampleResults().stages.map(({ stage }) => stage);
  const text = tellStory(stages.map((stage) => [stage, cellOf(sampleResults(), stage, drill)]));
  const [, table = ''] = text.split('The final stock, and the speed');

  const lines = table.split('\n').map((line) => line.length);
  expect(lines.length).toBeGreaterThan(11);
  expect(Math.max(...lines)).toBeLessThanOrEqual(80);
  expect(table).toMatch(drill === 'rush' ? /^ +stock +stock +twice/m : /oversold/);
});

test('a run of cells of which nothing is expected is not called expected', () => {
  expect(tellStory([['2-recursive-retry', { ...rushOf('2-recursive-retry'), expected: null }]])).not.toMatch(
    /As expected/,
  );
});

test('an unknown cell is not called expected, nor unexpected; nor is one that is not applicable', () => {
  const text = tellStory([
    ['1-in-process', { ...rushOf('1-in-process'), verdict: 'unknown', reasons: ['Nothing was sold.'] }],
    ['8-auto-renew', { ...slow, drill: 'failover', verdict: 'not-applicable', reasons: ['No replication.'] }],
  ]);

  expect(text).toMatch(
    /\? rush +Nothing was sold\.\n +Run this drill alone: npm start -- .*\n +The drill asks: do two nodes.*\?\n/,
  );
  expect(text).toMatch(/– failover +No replication\.\n +The drill asks: is a sale lost.*\?\n/);
  expect(text).not.toMatch(/expected: this stage/i);
});
