import type { DrillResult, Figures, Results } from '../results.ts';
import { drills as knownDrills } from '../staircase.ts';
import { formatNumber } from './numbers.ts';

/** One cell of the staircase as it was run. `left-out`: asked for and not run; `blank`: not asked for. */
export interface Cell {
  stage: string;
  drill: string;
  state: DrillResult['verdict'] | 'left-out' | 'blank';
  result?: DrillResult;
}

export interface Staircase {
  drills: string[];
  rows: { stage: string; cells: Cell[] }[];
}

/** What ran and what was left out: rows are stages, columns are drills, both in the order of the run. */
export function staircaseOf({ stages, leftOut }: Results): Staircase {
  const leftOutCells = leftOut.map(readLeftOut);
  const stageNames = unique([...stages.map(({ stage }) => stage), ...leftOutCells.map(({ stage }) => stage)]);
  const drills = unique([
    ...stages.flatMap((stage) => stage.drills.map(({ drill }) => drill)),
    ...leftOutCells.map(({ drill }) => drill),
  ]);
  const known = Object.keys(knownDrills);
  const drillNames = [...known.filter((drill) => drills.includes(drill)), ...drills.filter((d) => !known.includes(d))];

  function cell(stage: string, drill: string): Cell {
    const result = stages
      .filter((candidate) => candidate.stage === stage)
      .flatMap((candidate) => candidate.drills)
      .findLast((candidate) => candidate.drill === drill);
    if (result !== undefined) return { stage, drill, state: result.verdict, result };
    const isLeftOut = leftOutCells.some((left) => left.stage === stage && left.drill === drill);
    return { stage, drill, state: isLeftOut ? 'left-out' : 'blank' };
  }

  return {
    drills: drillNames,
    rows: stageNames.map((stage) => ({ stage, cells: drillNames.map((drill) => cell(stage, drill)) })),
  };
}

function readLeftOut(text: string) {
  const [stage = '', ...drill] = text.split(' ');
  return { stage, drill: drill.join(' ') };
}

function unique(names: string[]) {
  return [...new Set(names)].filter((name) => name !== '');
}

/** The figures of one drill at one stage. */
export interface StageFigures {
  stage: string;
  figures: Figures;
}

/** The drills of which at least one stage has figures, with those figures. */
export function measuredDrills(results: Results): { drill: string; stages: StageFigures[] }[] {
  return staircaseOf(results)
    .drills.map((drill) => ({
      drill,
      stages: results.stages.flatMap(({ stage, drills }) =>
        drills.flatMap((result) =>
          result.drill === drill && result.figures !== undefined ? [{ stage, figures: result.figures }] : [],
        ),
      ),
    }))
    .filter(({ stages }) => stages.length > 0);
}

/** Whether a result is what the staircase says; undefined where nothing is taught or nothing may be concluded. */
export function isAsTaught({ verdict, taught }: DrillResult): boolean | undefined {
  if (taught === null || (verdict !== 'pass' && verdict !== 'fail')) return undefined;
  return verdict === taught;
}

/** The one figure that says most about a drill: `742 lost`, `508 oversold`, `0 lost`. Undefined when none may be believed. */
export function keyFigure({ verdict, figures }: DrillResult): string | undefined {
  if (figures === undefined || verdict === 'unknown' || verdict === 'not-applicable') return undefined;
  const damage = damageOf(figures);
  if (damage !== undefined) return damage;
  if (verdict === 'fail') return troubleOf(figures);
  if (figures.sold === 0) return 'nothing sold';
  return figures.soldOut > 0 ? '0 oversold' : '0 lost';
}

function damageOf({ oversold, lostUpdates }: Figures) {
  if (oversold > 0) return `${formatNumber(oversold)} oversold`;
  if (lostUpdates > 0) return `${formatNumber(lostUpdates)} lost`;
  if (lostUpdates < 0) return `${formatNumber(-lostUpdates)} missing`;
  return undefined;
}

function troubleOf({ sold, overlaps = 0, inDoubt, failed, lockTimeout }: Figures) {
  if (overlaps > 0) return `${formatNumber(overlaps)} overlaps`;
  if (inDoubt > 0) return `${formatNumber(inDoubt)} in doubt`;
  if (failed > 0) return `${formatNumber(failed)} failed`;
  if (lockTimeout > 0) return `${formatNumber(lockTimeout)} timed out`;
  return sold === 0 ? 'nothing sold' : undefined;
}

/** What a drill asks. Undefined for a drill that this version does not know. */
export function questionOf(drill: string): string | undefined {
  return Object.entries(knownDrills).find(([name]) => name === drill)?.[1].asks;
}
