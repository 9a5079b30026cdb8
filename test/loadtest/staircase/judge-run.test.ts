import { describe, expect, test } from 'vitest';
import type { DrillResult, StageResult } from '../../../loadtest/evidence/results.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';

const cell = (more: Partial<DrillResult>): DrillResult => ({
  drill: 'rush',
  verdict: 'pass',
  taught: 'pass',
  reasons: ['a reason.'],
  witnesses: [],
  witnessCount: 0,
  stockOverTime: [],
  durationMs: 1,
  ...more,
});
const stageOf = (...cells: DrillResult[]): StageResult[] => [
  { stage: '2-recursive-retry', lockVersion: 2, drills: cells },
];

describe('the verdict on a run', () => {
  test('every cell as drawn: as taught, and a failure that is taught is one of them', () => {
    expect(judgeRun(stageOf(cell({}), cell({ verdict: 'fail', taught: 'fail' })), [])).toEqual({
      verdict: 'as-taught',
      verdictReasons: [],
    });
  });

  test.each(['pass', 'fail'] as const)('a blank cell that comes out as %s changes nothing', (verdict) => {
    expect(judgeRun(stageOf(cell({}), cell({ verdict, taught: null })), []).verdict).toBe('as-taught');
  });

  test('a stage that fails to fail: not as taught, and the cell is named', () => {
    const { verdict, verdictReasons } = judgeRun(stageOf(cell({ verdict: 'pass', taught: 'fail' })), []);
    expect(verdict).toBe('not-as-taught');
    expect(verdictReasons).toEqual(['2-recursive-retry rush: pass, but fail is taught.']);
  });

  test('an unknown cell: unknown', () => {
    expect(judgeRun(stageOf(cell({ verdict: 'unknown' })), []).verdict).toBe('unknown');
  });

  test('a blank cell that is unknown decides nothing, and is named', () => {
    expect(judgeRun(stageOf(cell({}), cell({ verdict: 'unknown', taught: null })), [])).toEqual({
      verdict: 'as-taught',
      verdictReasons: ['2-recursive-retry rush: unknown. a reason.'],
    });
  });

  test('not as taught weighs more than unknown', () => {
    const cells = [cell({ verdict: 'unknown' }), cell({ verdict: 'fail', taught: 'pass' })];
    expect(judgeRun(stageOf(...cells), []).verdict).toBe('not-as-taught');
  });

  test('something left out, or nothing run: unknown', () => {
    expect(judgeRun(stageOf(cell({})), ['3-spin rush']).verdict).toBe('unknown');
    expect(judgeRun([], []).verdict).toBe('unknown');
    expect(judgeRun(stageOf(cell({ verdict: 'not-applicable' })), []).verdict).toBe('unknown');
  });
});
