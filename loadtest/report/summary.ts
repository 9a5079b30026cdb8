// The verdict of a run in a few sentences.

import type { Results } from '../evidence/results.ts';
import { capitalised, countOf, formatNumber, listOf } from '../narration/numbers.ts';
import { type Standing, standingOf } from '../staircase/judge-run.ts';
import { keyFigure } from './cells.ts';
import { baselineLine } from './grades.ts';

/** The verdict on a run. One of which nothing is expected has contradicted nothing. */
export function verdictInWords(results: Results): string {
  const standings = standingsIn(results);
  if (results.verdict === 'as-expected' && !standings.includes('as expected'))
    return 'Nothing is expected of these cells';
  return capitalised(results.verdict.replaceAll('-', ' '));
}

/** How many cells ran, and how many of them came out as expected. Empty when there is nothing to count. */
export function countCells(results: Results): string {
  const standings = standingsIn(results);
  const count = (standing: Standing) => standings.filter((each) => each === standing).length;
  const ran = standings.length - count('not applicable');
  const words = (['as expected', 'not as expected', 'unknown', 'measured only'] as const).flatMap((standing) =>
    count(standing) > 0 ? [`${formatNumber(count(standing))} ${standing}`] : [],
  );
  return [
    ran > 0 &&
      (results.service ? `${countOf(ran, 'drill')} run.` : `${countOf(ran, 'cell')} run: ${words.join(', ')}.`),
    results.leftOut.length > 0 && `${countOf(results.leftOut.length, 'cell')} left out.`,
    count('not applicable') > 0 && `${countOf(count('not applicable'), 'cell')} not applicable.`,
  ]
    .filter(Boolean)
    .join(' ');
}

const standingsIn = ({ stages }: Results) => stages.flatMap(({ drills }) => drills.map(standingOf));

/** What the drills under load have broken, a sentence each; of graded locks, whether the baseline may be believed. */
export function summarize(results: Results): string[] {
  if (results.service) return [];
  if (results.grades) return [baselineLine(results)];
  return ['rush', 'sell-out'].flatMap((drill) => {
    const broken = results.stages.flatMap(({ stage, drills }) => {
      const failed = drills.find((result) => result.drill === drill && result.verdict === 'fail');
      return failed ? [`${keyFigure(failed) ?? 'failed'} under ${stage}`] : [];
    });
    return broken.length > 0 ? [`In the ${drill}: ${listOf(broken)}.`] : [];
  });
}
