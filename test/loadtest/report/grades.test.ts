import { expect, test } from 'vitest';
import type { Results } from '../../../loadtest/evidence/results.ts';
import { holdsAll } from '../../../loadtest/report/grades.ts';

/** A run of one graded lock, whose drills came out so. */
const graded = (verdicts: string[], more: { leftOut?: string[]; problem?: string } = {}) =>
  ({
    leftOut: more.leftOut ?? [],
    grades: [{ stage: 'mine', file: '/mine.ts', problem: more.problem }],
    stages: [{ stage: 'mine', drills: verdicts.map((verdict) => ({ drill: 'rush', verdict })) }],
  }) as unknown as Results;

test.each([
  ['every drill that applies holds', graded(['pass', 'not-applicable']), true],
  ['one fails', graded(['pass', 'fail']), false],
  ['of one nothing is known', graded(['pass', 'unknown']), false],
  ['none applies', graded(['not-applicable']), false],
  ['one was left out', graded(['pass'], { leftOut: ['mine failover'] }), false],
  ['it can’t be graded', graded(['pass'], { problem: 'there is no such file' }), false],
])('grades: %s', (_what, results, holds) => {
  expect(holdsAll(results)).toBe(holds);
});
