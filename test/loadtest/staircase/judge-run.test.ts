import { expect, test } from 'vitest';
import type { DrillResult, StageResult } from '../../../loadtest/evidence/results.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';

const cell = (more: Partial<DrillResult>): DrillResult => ({
  ...{ drill: 'rush', verdict: 'pass', taught: 'pass', reasons: ['a reason.'], witnesses: [], witnessCount: 0 },
  ...{ durationMs: 1, ...more },
});
const stageOf = (...cells: DrillResult[]): StageResult[] => [
  { stage: '2-recursive-retry', lockVersion: 2, drills: cells },
];

const asTaught = cell({});
const unknown = cell({ verdict: 'unknown' });

test.each([
  ['every cell as drawn, also a failure', [asTaught, cell({ verdict: 'fail', taught: 'fail' })], 'as-taught'],
  ['a blank cell that passes', [asTaught, cell({ taught: null })], 'as-taught'],
  ['a blank cell that fails', [asTaught, cell({ verdict: 'fail', taught: null })], 'as-taught'],
  ['a stage that fails to fail', [cell({ taught: 'fail' })], 'not-as-taught', 'rush: pass, but fail is expected.'],
  ['an unknown cell', [unknown], 'unknown', 'rush: unknown. a reason.'],
  ['a blank cell that is unknown', [asTaught, { ...unknown, taught: null }], 'as-taught', 'rush: unknown. a reason.'],
  ['not as taught, which weighs more than unknown', [cell({ verdict: 'fail' }), unknown], 'not-as-taught'],
  ['nothing to break', [cell({ verdict: 'not-applicable' })], 'unknown'],
] as const)('the verdict on a run: %s', (_what, cells, verdict, reason?: string) => {
  const judged = judgeRun(stageOf(...cells), []);

  expect(judged.verdict).toBe(verdict);
  if (reason !== undefined) expect(judged.verdictReasons).toEqual([`2-recursive-retry ${reason}`]);
});

test('the verdict on a run: something left out, or nothing run, is unknown', () => {
  expect(judgeRun(stageOf(asTaught), ['3-spin rush']).verdict).toBe('unknown');
  expect(judgeRun([], []).verdict).toBe('unknown');
});
