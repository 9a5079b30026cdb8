import { expect, test } from 'vitest';
import type { DrillResult, StageResult } from '../../../loadtest/evidence/results.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';

const cell = (more: Partial<DrillResult>): DrillResult => ({
  ...{ drill: 'rush', verdict: 'pass', expected: 'pass', reasons: ['a reason.'], evidence: [], evidenceCount: 0 },
  ...{ durationMs: 1, ...more },
});
const stageOf = (...cells: DrillResult[]): StageResult[] => [
  { stage: '2-recursive-retry', lockVersion: 2, drills: cells },
];

const asExpected = cell({});
const unknown = cell({ verdict: 'unknown' });

test.each([
  ['every cell as drawn, also a failure', [asExpected, cell({ verdict: 'fail', expected: 'fail' })], 'as-expected'],
  ['a blank cell that passes', [asExpected, cell({ expected: null })], 'as-expected'],
  ['a blank cell that fails', [asExpected, cell({ verdict: 'fail', expected: null })], 'as-expected'],
  ['a stage that fails to fail', [cell({ expected: 'fail' })], 'not-as-expected', 'rush: pass, but fail is expected.'],
  ['an unknown cell', [unknown], 'unknown', 'rush: unknown. a reason.'],
  [
    'a blank cell that is unknown',
    [asExpected, { ...unknown, expected: null }],
    'as-expected',
    'rush: unknown. a reason.',
  ],
  ['not as expected, which weighs more than unknown', [cell({ verdict: 'fail' }), unknown], 'not-as-expected'],
  ['nothing to break', [cell({ verdict: 'not-applicable' })], 'unknown'],
] as const)('the verdict on a run: %s', (_what, cells, verdict, reason?: string) => {
  const judged = judgeRun(stageOf(...cells), []);

  expect(judged.verdict).toBe(verdict);
  if (reason !== undefined) expect(judged.verdictReasons).toEqual([`2-recursive-retry ${reason}`]);
});

test('the verdict on a run: something left out, or nothing run, is unknown', () => {
  expect(judgeRun(stageOf(asExpected), ['3-spin rush']).verdict).toBe('unknown');
  expect(judgeRun([], []).verdict).toBe('unknown');
});
