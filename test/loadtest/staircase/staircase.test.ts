import { describe, expect, test } from 'vitest';
import { drills as allDrills } from '../../../loadtest/drills/index.ts';
import type { DrillResult, StageResult } from '../../../loadtest/evidence/results.ts';
import { drills, judgeRun, taughtVerdict } from '../../../loadtest/staircase/staircase.ts';

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

describe('staircase: the verdict on a run', () => {
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

describe('staircase: the picture', () => {
  test('every drill has a column of nine signs, and every column a drill', () => {
    const names = allDrills.map(({ name }) => name);
    expect(Object.keys(drills)).toEqual(names);
    for (const { picture } of Object.values(drills)) if (picture) expect(picture).toMatch(/^[✔✘– ]{9}$/);
  });

  test('from left to right, each stage keeps what is drawn ✔ above it', () => {
    for (const [name, { picture = '' }] of Object.entries(drills))
      expect({ name, picture }).toMatchObject({ picture: expect.stringMatching(/^–*[ ✘]*✔*$/) });
  });

  test('a sign is read by its stage', () => {
    expect(taughtVerdict('1-in-process', 'rush')).toBe('fail');
    expect(taughtVerdict('2-recursive-retry', 'rush')).toBe('pass');
    expect(taughtVerdict('2-recursive-retry', 'crashed-holder')).toBeNull();
    expect(taughtVerdict('3-spin', 'no such drill')).toBeNull();
    expect(taughtVerdict('fenced', 'paused-process')).toBe('pass');
    expect(taughtVerdict('fenced', 'failover')).toBe('fail');
    expect(taughtVerdict('no such lock', 'rush')).toBeNull();
  });
});
