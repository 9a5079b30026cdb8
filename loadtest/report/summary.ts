// The verdict of a run in a few sentences.

import type { Results } from '../evidence/results.ts';
import { type Both, inLanguage } from '../narration/language.ts';
import { countOf, formatNumber } from '../narration/numbers.ts';
import { either, isChinese, listSaid } from '../narration/spoken.ts';
import { type Standing, standingOf } from '../staircase/judge-run.ts';
import { keyFigure, reasonOf } from './cells.ts';
import { baselineLine } from './grades.ts';

const verdicts: Record<Results['verdict'], Both> = {
  'as-expected': ['As expected', '符合预期'],
  'not-as-expected': ['Not as expected', '不符合预期'],
  unknown: ['Unknown', '未知'],
  broken: ['Broken', '有缺陷'],
  holds: ['Holds', '通过'],
};

/** The verdict on a run, with its full stop. One of which nothing is expected has contradicted nothing. */
export function verdictInWords(results: Results): string {
  const standings = standingsIn(results);
  if (results.verdict === 'as-expected' && !standings.includes('as expected'))
    return either('Nothing is expected of these cells.', '对这些单元格没有预期。');
  return inLanguage(verdicts[results.verdict]) + either('.', '。');
}

/** Why the verdict on a run is what it is: a sentence for each cell that decided it. */
export function verdictReasonsOf(results: Results): string[] {
  const { stages, leftOut, verdictReasons } = results;
  if (!isChinese()) return verdictReasons;
  const cells = stages.flatMap(({ stage, drills }) => drills.map((drill) => ({ stage, ...drill })));
  const words = { pass: '通过', fail: '不通过' } as Record<string, string>;
  return [
    ...cells
      .filter((cell) => standingOf(cell) === 'not as expected')
      .map(
        ({ stage, drill, verdict, expected }) => `${stage} ${drill}：${words[verdict]}，预期${words[expected ?? '']}。`,
      ),
    ...cells
      .filter(({ verdict }) => verdict === 'unknown')
      .map((cell) => `${cell.stage} ${cell.drill}：未知。${reasonOf(cell)}`),
    ...(leftOut.length > 0 ? [`运行被中断：${formatNumber(leftOut.length)} 个单元格没有运行。`] : []),
    ...(cells.some(({ verdict }) => verdict !== 'not-applicable') ? [] : ['没有运行任何演练。']),
  ];
}

/** How many cells ran, and how many of them came out as expected. Empty when there is nothing to count. */
export function countCells(results: Results): string {
  const standings = standingsIn(results);
  const count = (standing: Standing) => standings.filter((each) => each === standing).length;
  const ran = standings.length - count('not applicable');
  const parts = (['as expected', 'not as expected', 'unknown', 'measured only'] as const).flatMap((standing) => {
    const number = formatNumber(count(standing));
    return count(standing) > 0 ? [either(`${number} ${standing}`, `${number} 个${standingsInChinese[standing]}`)] : [];
  });
  const [left, aside] = [results.leftOut.length, count('not applicable')];
  const cellsRun = either(`${countOf(ran, 'cell')} run`, `运行了 ${formatNumber(ran)} 个单元格`);
  return [
    ran > 0 &&
      (results.service
        ? either(`${countOf(ran, 'drill')} run.`, `运行了 ${formatNumber(ran)} 个演练。`)
        : either(`${cellsRun}: ${parts.join(', ')}.`, `${cellsRun}：${parts.join('，')}。`)),
    left > 0 && either(`${countOf(left, 'cell')} left out.`, `${formatNumber(left)} 个没有运行。`),
    aside > 0 && either(`${countOf(aside, 'cell')} not applicable.`, `${formatNumber(aside)} 个不适用。`),
  ]
    .filter(Boolean)
    .join(either(' ', ''));
}

const standingsInChinese = {
  'as expected': '符合预期',
  'not as expected': '不符合预期',
  unknown: '未知',
  'measured only': '只测量',
};

const standingsIn = ({ stages }: Results) => stages.flatMap(({ drills }) => drills.map(standingOf));

/** What the drills under load have broken, a sentence each; of graded locks, whether the baseline may be believed. */
export function summarize(results: Results): string[] {
  if (results.service) return [];
  if (results.grades) return [baselineLine(results)];
  return ['rush', 'sell-out'].flatMap((drill) => {
    const broken = results.stages.flatMap(({ stage, drills }) => {
      const failed = drills.find((result) => result.drill === drill && result.verdict === 'fail');
      if (failed === undefined) return [];
      const figure = keyFigure(failed) ?? either('failed', '不通过');
      return [either(`${figure} under ${stage}`, `${stage} ${figure}`)];
    });
    return broken.length > 0
      ? [either(`In the ${drill}: ${listSaid(broken)}.`, `${drill}：${broken.join('，')}。`)]
      : [];
  });
}
