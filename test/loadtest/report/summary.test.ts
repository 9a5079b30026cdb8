import { expect, test } from 'vitest';
import type { Results } from '../../../loadtest/evidence/results.ts';
import { summarize } from '../../../loadtest/report/summary.ts';
import { cellOf, sampleResults } from './sample-results.ts';

const only = (from: number, until: number) => (results: Results) => {
  results.stages = results.stages.slice(from, until);
};

/** Under these stages nothing was sold in the rush. */
const idle = (results: Results) => {
  for (const { stage } of results.stages.slice(2)) {
    Object.assign(cellOf(results, stage, 'rush').figures ?? {}, { sold: 0, expectedStock: 5_000, finalStock: 5_000 });
  }
};

test.each<[string, (results: Results) => void, string]>([
  [
    'all stages',
    () => {},
    'Stage 1 lost 750 of 2,000 sales on two nodes; from stage 2 on none is lost. Stage 1 sold 1,750 of 1,000 units in stock; from stage 2 on none is oversold.',
  ],
  ['one stage that holds', only(4, 5), 'Stage 4 lost no sale on two nodes. Stage 4 sold no more than there was.'],
  [
    'stages that sold nothing are not said to hold',
    idle,
    'Stages 0 and 1 lost sales on two nodes: 750 of 2,000 and 750 of 2,000; stages 2 to 8 sold nothing. Stage 1 sold 1,750 of 1,000 units in stock; from stage 2 on none is oversold.',
  ],
])('a run in sentences: %s', (_what, change, sentences) => {
  expect(summarize(sampleResults(change)).join(' ')).toBe(sentences);
});
