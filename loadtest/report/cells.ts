// What a run found, cell by cell: the staircases as they were run, and the figures of their drills.

import { type DrillResult, type Results, type RushFigures, rushFigures, stepFigures } from '../evidence/results.ts';
import { checkQuestionsInChinese } from '../narration/check-questions.zh.ts';
import type { Sight } from '../narration/evidence.ts';
import { countOf, formatNumber } from '../narration/numbers.ts';
import { orderQuestionsInChinese } from '../narration/order-questions.zh.ts';
import { questionsInChinese } from '../narration/questions.zh.ts';
import type { Reason } from '../narration/reasons.ts';
import {
  durationSaid,
  either,
  isChinese,
  reasonSaid,
  sentencesSaid,
  sightSaid,
  stepSaid,
} from '../narration/spoken.ts';
import type { StepSentence } from '../narration/steps.ts';
import { isCheck, questionOfCheck } from '../staircase/conformance.ts';
import { columnNames, columnOf, staircaseOf, staircases } from '../staircase/lookup.ts';
import { type Group, groups, questionOfPage, type Staircase } from '../staircase/staircase.ts';

/** One cell of the staircase as it was run. `left-out`: asked for and not run; `blank`: not asked for. */
export interface Cell {
  stage: string;
  drill: string;
  state: DrillResult['verdict'] | 'left-out' | 'blank';
  result?: DrillResult;
}

/** A staircase as it was run. */
export interface RanStaircase {
  staircase: Staircase;
  drills: string[];
  stages: string[];
  cellAt(stage: string, drill: string): Cell;
}

/** More drills than that are too many to be seen at once: they are shown group by group, or counted. */
const MOST_IN_ONE = 5;

/** The drills of a staircase as they are shown: at once when they are few or have no groups, else group by group. */
export function partsOf({ drills }: RanStaircase): { group: Group | undefined; drills: string[] }[] {
  const groupOf = (drill: string) => columnOf(drill)?.group;
  if (drills.length <= MOST_IN_ONE || !drills.some(groupOf)) return [{ group: undefined, drills }];
  const parts = [...groups, undefined].map((group) => ({
    group,
    drills: drills.filter((drill) => groupOf(drill) === group),
  }));
  return parts.filter((part) => part.drills.length > 0);
}

/**
 * The staircases of which something ran or was left out: rows are stages in the order of the run, columns are drills in the order of the
 * staircase.
 */
export function ranStaircases({ stages, leftOut }: Results): RanStaircase[] {
  const cells = [
    ...stages.flatMap(({ stage, drills }) =>
      drills.map((result): Cell => ({ stage, drill: result.drill, state: result.verdict, result })),
    ),
    ...cellsIn(leftOut).map((cell): Cell => ({ ...cell, state: 'left-out' })),
  ];
  // The checks of a graded lock are no columns.
  const asked = cells.filter(({ drill }) => !isCheck(drill));
  return staircases.flatMap((staircase): RanStaircase[] => {
    const own = asked.filter(({ stage }) => staircaseOf(stage) === staircase);
    const names = own.map(({ drill }) => drill);
    const drills = [...new Set([...columnNames.filter((name) => names.includes(name)), ...names])];
    const stages = [...new Set(own.map(({ stage }) => stage))];
    const cellAt = (stage: string, drill: string): Cell =>
      own.find((cell) => cell.stage === stage && cell.drill === drill) ?? { stage, drill, state: 'blank' };
    return stages.length > 0 ? [{ staircase, drills, stages, cellAt }] : [];
  });
}

/**
 * Why a graded lock need not hold what it fails here, as its answer says: the difference between two promises, and no fault of the lock.
 * Undefined where it must, or does.
 */
export function whyNotPromised(
  { grades = [] }: Results,
  stage: string,
  { drill, verdict }: DrillResult,
): string | undefined {
  const { answer, said = answer } = grades.find((grade) => grade.stage === stage) ?? {};
  return verdict === 'fail' ? said?.notPromised.find(({ name }) => name === drill)?.says : undefined;
}

/** The cells that were left out, as the results name them. */
export function cellsIn(leftOut: string[]): Pick<Cell, 'stage' | 'drill'>[] {
  return leftOut.map((text) => {
    const [stage = '', ...drill] = text.split(' ');
    return { stage, drill: drill.join(' ') };
  });
}

/** What was left out, a row after the other: its drills by their names, or how many they are when they are many. */
export function leftOutInWords(leftOut: string[]): string {
  const cells = cellsIn(leftOut);
  const rows = [...new Set(cells.map(({ stage }) => stage))].map((row) => {
    const drills = cells.flatMap(({ stage, drill }) => (stage === row ? [drill] : []));
    const named = either(drills.join(', '), drills.join('、'));
    const count = either(countOf(drills.length, 'drill'), `${formatNumber(drills.length)} 个演练`);
    const those = drills.length > MOST_IN_ONE ? count : named;
    return either(`${row} (${those})`, `${row}（${those}）`);
  });
  return rows.join(either(', ', '，'));
}

/** A drill under load, with the figures of each stage that has some. */
export interface MeasuredDrill {
  drill: string;
  stages: { stage: string; figures: RushFigures }[];
}

/** The drills under load of which at least one stage has figures. */
export function measuredRushes(results: Results): MeasuredDrill[] {
  const drills = ranStaircases(results).flatMap(({ drills, stages, cellAt }) =>
    drills.map((drill) => ({
      drill,
      stages: stages.flatMap((stage) => {
        const { result } = cellAt(stage, drill);
        const figures = result && rushFigures(result);
        return figures ? [{ stage, figures }] : [];
      }),
    })),
  );
  return drills.filter(({ stages }) => stages.length > 0);
}

/**
 * The figure that decided about a drill, or says most about one that holds: `742 sold twice`, `after 1 s`. Refused sales of a rush stand
 * behind it. Undefined when none may be believed.
 */
export function keyFigure(result: DrillResult): string | undefined {
  const { drill, verdict } = result;
  if (verdict === 'unknown' || verdict === 'not-applicable') return undefined;
  const steps = stepFigures(result);
  if (steps !== undefined) return columnOf(drill)?.figure?.(steps, verdict);
  const figures = rushFigures(result);
  if (figures === undefined) return undefined;
  const held = figures.soldOut > 0 ? either('0 oversold', '没有超卖') : either('0 sold twice', '无重复卖出');
  const decided = damageOf(figures) ?? (verdict === 'fail' ? troubleOf(figures) : held);
  const timedOut = formatNumber(figures.lockTimeout);
  const refused = figures.lockTimeout > 0 ? either(`${timedOut} refused`, `拒绝 ${timedOut} 笔`) : undefined;
  return [decided, refused].filter((part) => part !== undefined).join(either(', ', '，')) || undefined;
}

/** Where more than two nodes sold: how much each did. */
export function sharesOf(result: DrillResult): string | undefined {
  const shares = Object.entries(rushFigures(result)?.soldByNode ?? {});
  if (shares.length <= 2) return undefined;
  const counts = shares.map(([node, sold]) =>
    either(`${node}: ${formatNumber(sold)}`, `${node} ${formatNumber(sold)} 件`),
  );
  return either(`sold by ${counts.join(', ')}`, `各节点卖出：${counts.join('，')}`);
}

function damageOf({ oversold, lostUpdates }: RushFigures) {
  if (oversold > 0) return either(`${formatNumber(oversold)} oversold`, `超卖 ${formatNumber(oversold)} 件`);
  if (lostUpdates > 0)
    return either(`${formatNumber(lostUpdates)} sold twice`, `重复卖出 ${formatNumber(lostUpdates)} 件`);
  if (lostUpdates < 0) return either(`${formatNumber(-lostUpdates)} missing`, `缺少 ${formatNumber(-lostUpdates)} 件`);
  return undefined;
}

/** Of a rush that failed though nothing was sold twice. */
function troubleOf({ sold, overlaps = 0, inDoubt, longestFreeMs }: RushFigures) {
  if (overlaps > 0) return either(countOf(overlaps, 'overlap'), `重叠 ${formatNumber(overlaps)} 次`);
  if (inDoubt > 0) return either(`${formatNumber(inDoubt)} in doubt`, `${formatNumber(inDoubt)} 笔结果不明`);
  if (sold === 0) return either('nothing sold', '一件也没有卖出');
  if (longestFreeMs === undefined) return undefined;
  const free = durationSaid(longestFreeMs);
  return either(`free for ${free}`, `锁空闲 ${free}`);
}

export const allQuestionsInChinese: Record<string, string> = {
  ...questionsInChinese,
  ...orderQuestionsInChinese,
  ...checkQuestionsInChinese,
};

/** What a drill, or a check, asks. Empty for one that this version does not know. */
export function questionOf(drill: string): string {
  const asks = columnOf(drill)?.asks ?? questionOfCheck(drill) ?? questionOfPage(drill);
  return either(asks, allQuestionsInChinese[drill] ?? asks);
}

// The sentences of a result in the language that is spoken. Those of a file that was read are English.

export function reasonsOf({ reasons, facts }: Pick<DrillResult, 'reasons' | 'facts'>): string[] {
  if (facts === undefined || !isChinese()) return reasons;
  const said = (facts.says as Reason[]).map(reasonSaid);
  return reasons.length === 1 ? [sentencesSaid(said)] : said;
}

/** All of them as one text. */
export const reasonOf = (result: Pick<DrillResult, 'reasons' | 'facts'>) => sentencesSaid(reasonsOf(result));

/** Without the full stop. */
export const evidenceOf = ({ evidence, facts }: Pick<DrillResult, 'evidence' | 'facts'>): string[] =>
  facts && isChinese() && facts.seen.length === evidence.length ? (facts.seen as Sight[]).map(sightSaid) : evidence;

export const toldOf = ({ told = [], facts }: DrillResult) =>
  told.map(({ ms, sentence }, at) => {
    const step = facts?.told[at] as StepSentence | undefined;
    return { ms, sentence: step === undefined ? sentence : stepSaid(step) };
  });
