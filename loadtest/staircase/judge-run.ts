// Judges a run by the results of its cells.

import type { DrillResult, Results } from '../evidence/results.ts';
import { countOf } from '../narration/numbers.ts';

/** How a result compares with the expected result. */
export type Standing = 'as expected' | 'not as expected' | 'measured only' | 'unknown' | 'not applicable';

export function standingOf({ verdict, expected }: Pick<DrillResult, 'verdict' | 'expected'>): Standing {
  if (verdict === 'unknown') return 'unknown';
  if (verdict === 'not-applicable') return 'not applicable';
  if (expected === null) return 'measured only';
  return verdict === expected ? 'as expected' : 'not as expected';
}

/**
 * A run is as expected when every cell with an expected ✔ or ✘ has that result, and no cell was left out. A cell without an
 * expected result does not affect the verdict; the reasons name it when it is unknown.
 */
export function judgeRun(stages: Results['stages'], leftOut: string[]): Pick<Results, 'verdict' | 'verdictReasons'> {
  const cells = stages.flatMap(({ stage, drills }) => drills.map((drill) => ({ stage, ...drill })));
  const notAsExpected = cells.filter((cell) => standingOf(cell) === 'not as expected');
  const unknown = cells.filter((cell) => cell.verdict === 'unknown');
  const hasRun = cells.some((cell) => cell.verdict !== 'not-applicable');

  const verdictReasons = [
    ...notAsExpected.map(
      ({ stage, drill, verdict, expected }) => `${stage} ${drill}: ${verdict}, but ${expected} is expected.`,
    ),
    ...unknown.map(({ stage, drill, reasons }) => `${stage} ${drill}: unknown. ${reasons.join(' ')}`),
    ...(leftOut.length > 0
      ? [`The run was cut short: ${countOf(leftOut.length, 'cell was', 'cells were')} not run.`]
      : []),
    ...(hasRun ? [] : ['No drill was run.']),
  ];
  if (notAsExpected.length > 0) return { verdict: 'not-as-expected', verdictReasons };
  const isAsDrawn = hasRun && leftOut.length === 0 && unknown.every(({ expected }) => expected === null);
  return { verdict: isAsDrawn ? 'as-expected' : 'unknown', verdictReasons };
}
