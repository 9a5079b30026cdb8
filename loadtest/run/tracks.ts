// What a run can go through: the staircases with the drills of their columns, and the cells of a run.

import type { Cell, Drill } from '../harness/drill.ts';
import { drillsIn } from '../orders/index.ts';
import { drills } from '../scenarios/index.ts';
import { lockStaircase } from '../staircase/lock-stages.ts';
import { columnOf, fixes, hasNothingToBreak, orderStaircases, rowOf, verdictExpected } from '../staircase/lookup.ts';
import type { Staircase } from '../staircase/staircase.ts';

/** A staircase, and the drills of its columns, in their order. */
export interface Flight {
  staircase: Staircase;
  drills: Drill[];
}

/** What one run can go through: staircase after staircase. */
export const tracks = {
  locks: [{ staircase: lockStaircase, drills }],
  orders: orderStaircases.map((staircase) => ({
    staircase,
    drills: drillsIn(staircase),
  })),
} satisfies Record<string, Flight[]>;
export type Track = keyof typeof tracks;

export const drillsOf = (track: Track): Drill[] => tracks[track].flatMap(({ drills }) => drills);
export const rowsOf = (track: Track): string[] => tracks[track].flatMap(({ staircase }) => Object.keys(staircase.rows));
/** The rows of which the story of a track tells. */
export const storyRowsOf = (track: Track): string[] => rowsOf(track).filter((row) => !rowOf(row)?.isAside);

/** Every drill of the track under every row of its own staircase, of these rows and, if drills are named, of these drills. */
export function cellsOf(track: Track, rows: string[], chosen = drillsOf(track)): Cell[] {
  return tracks[track].flatMap(({ staircase, drills }) => {
    const own = rows.filter((row) => Object.hasOwn(staircase.rows, row));
    return allCells(
      own,
      drills.filter((drill) => chosen.includes(drill)),
    );
  });
}

/** Every drill under every row; a drill that can break none of the rows is left out. */
export function allCells(rows: string[], drills: Drill[]): Cell[] {
  const isOfUse = ({ name }: Drill) => rows.some((row) => !hasNothingToBreak(row, name));
  return rows.flatMap((stage) => drills.filter(isOfUse).map((drill) => ({ stage, drill })));
}

/**
 * The story of these rows: under each the rush, the drills that it fixes, and those that it still fails but for what is aside. What a row
 * fixes is run under the row before as well, so that the two stand side by side. What asks for an option is left out. The
 * staircases of the orders are small: their story is all of them, but for what can break nothing.
 */
export function storyOf(track: Track, rows: string[]): Cell[] {
  if (track === 'orders')
    return cellsOf(track, rows).filter(({ stage, drill }) => !hasNothingToBreak(stage, drill.name));
  const cells = new Map<string, Cell>();
  const told = drills.filter(({ name }) => !columnOf(name)?.isOption);
  const add = (stage: string, drill: Drill) => cells.set(`${stage} ${drill.name}`, { stage, drill });
  for (const stage of rows) {
    const isFixed = ({ name }: Drill) => fixes(stage, name);
    const isFailed = ({ name }: Drill) => verdictExpected(stage, name) === 'fail' && !columnOf(name)?.isAside;

    for (const drill of told.filter(isFixed)) add(rowOf(stage)?.before ?? '', drill);
    for (const drill of told) if (drill.name === 'rush' || isFixed(drill) || isFailed(drill)) add(stage, drill);
  }
  return [...cells.values()];
}
