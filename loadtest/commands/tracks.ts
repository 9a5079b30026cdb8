// What a run can go through: the staircases with the drills of their columns.

import type { Cell, Drill } from '../harness/drill.ts';
import { guardDrills, keyDrills, scheduleDrills } from '../orders/index.ts';
import { drills } from '../scenarios/index.ts';
import { guardStaircase } from '../staircase/guards.ts';
import { keyStaircase } from '../staircase/keys.ts';
import { lockStaircase } from '../staircase/locks.ts';
import { rowOf } from '../staircase/lookup.ts';
import { allCells, storyCells } from '../staircase/plan.ts';
import { scheduleStaircase } from '../staircase/schedules.ts';
import type { Staircase } from '../staircase/staircase.ts';

/** A staircase, and the drills of its columns, in their order. */
export interface Flight {
  staircase: Staircase;
  drills: Drill[];
}

/** What one run can go through: staircase after staircase. */
export const tracks = {
  locks: [{ staircase: lockStaircase, drills }],
  orders: [
    { staircase: guardStaircase, drills: guardDrills },
    { staircase: scheduleStaircase, drills: scheduleDrills },
    { staircase: keyStaircase, drills: keyDrills },
  ],
} satisfies Record<string, Flight[]>;
export type Track = keyof typeof tracks;

export const drillsOf = (track: Track): Drill[] => tracks[track].flatMap(({ drills }) => drills);
export const rowsOf = (track: Track): string[] => tracks[track].flatMap(({ staircase }) => Object.keys(staircase.rows));
/** The rows of which the story of a track tells. */
export const storyRowsOf = (track: Track): string[] => rowsOf(track).filter((row) => !rowOf(row)?.isAside);

/** Every drill of the track under every row of its own staircase, of these rows and, if drills are named, of these drills. */
export function cellsOf(track: Track, rows: string[], chosen?: Drill[]): Cell[] {
  return planned(track, rows, (own, drills) =>
    allCells(
      own,
      drills.filter((drill) => chosen?.includes(drill) ?? true),
    ),
  );
}

/** The story of these rows. The staircases of the orders are small: their story is all of them. */
export function storyOf(track: Track, rows: string[]): Cell[] {
  return planned(track, rows, track === 'locks' ? storyCells : allCells);
}

function planned(track: Track, rows: string[], plan: (rows: string[], drills: Drill[]) => Cell[]): Cell[] {
  return tracks[track].flatMap(({ staircase, drills }) =>
    plan(
      rows.filter((row) => Object.hasOwn(staircase.rows, row)),
      drills,
    ),
  );
}
