// The verdict of a run in a few sentences.

import { countOf, formatNumber, listOf } from '../evidence/numbers.ts';
import type { Results } from '../evidence/results.ts';
import { isAsTaught, keyFigure } from './cells.ts';
import { baselineLine, gradeTitle } from './grades.ts';

/** The verdict on the run in plain words. */
const verdictWords = {
  'as-taught': 'As expected',
  'not-as-taught': 'Not as expected',
  unknown: 'Unknown',
  holds: 'Holds',
  broken: 'Broken',
} as const;

/** What the report is about: the verdict on the run, or on a graded lock. A run of which nothing is taught has contradicted nothing. */
export function titleOf(results: Results): string {
  const cells = results.stages.flatMap(({ drills }) => drills);
  if (results.verdict === 'as-taught' && !cells.some(isAsTaught)) return 'Nothing is taught of these cells';
  return results.grades ? gradeTitle(results.grades) : verdictWords[results.verdict];
}

/** How many cells ran, and how many of them came out as expected. Empty when there is nothing to count. */
export function countCells({ stages, leftOut }: Results): string {
  const cells = stages.flatMap((stage) => stage.drills);
  const ran = cells.filter(({ verdict }) => verdict !== 'not-applicable');
  const counts = [
    [ran.filter((cell) => isAsTaught(cell) === true).length, 'as expected'],
    [ran.filter((cell) => isAsTaught(cell) === false).length, 'not as expected'],
    [ran.filter(({ verdict }) => verdict === 'unknown').length, 'unknown'],
    [ran.filter(({ verdict, taught }) => verdict !== 'unknown' && taught === null).length, 'measured only'],
  ] as const;
  const words = counts.flatMap(([count, name]) => (count > 0 ? [`${formatNumber(count)} ${name}`] : []));
  const others = [
    [leftOut.length, 'left out'],
    [cells.length - ran.length, 'not applicable'],
  ] as const;
  return [
    ...(ran.length > 0 ? [`${countOf(ran.length, 'cell')} run: ${words.join(', ')}.`] : []),
    ...others.flatMap(([count, name]) => (count > 0 ? [`${countOf(count, 'cell')} ${name}.`] : [])),
  ].join(' ');
}

/** What the drills under load have broken, a sentence each; of graded locks, whether the baseline may be believed. */
export function summarize(results: Results): string[] {
  if (results.grades) return [baselineLine(results)];
  return ['rush', 'sell-out'].flatMap((drill) => {
    const broken = results.stages.flatMap(({ stage, drills }) => {
      const failed = drills.find((result) => result.drill === drill && result.verdict === 'fail');
      return failed ? [`${keyFigure(failed) ?? 'failed'} under ${stage}`] : [];
    });
    return broken.length > 0 ? [`In the ${drill}: ${listOf(broken)}.`] : [];
  });
}
