import { expect, test } from 'vitest';
import type { Results } from '../../../loadtest/evidence/results.ts';
import { summarize } from '../../../loadtest/report/summary.ts';
import { cellOf, sampleResults } from './sample-results.ts';

/** Under these stages nothing was sold in the rush. */
const idle = (results: Results) => {
  for (const { stage } of results.stages.slice(2)) {
    Object.assign(cellOf(results, stage, 'rush').figures ?? {}, { sold: 0, expectedStock: 5_000, finalStock: 5_000 });
  }
};

test('a run in sentences: stages that sold nothing are not said to hold', () => {
  expect(summarize(sampleResults(idle)).join(' ')).toMatch(
    /: 750 of 2,000 and 750 of 2,000; stages 2 to 8 sold nothing\./,
  );
  expect(summarize(sampleResults()).join(' ')).toContain('from stage 2 on none is lost.');
});
