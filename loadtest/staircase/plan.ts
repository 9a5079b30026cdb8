// Which drills a run goes through, under which rows.

import { columnOf, hasNothingToBreak, rowOf, taughtVerdict } from './lookup.ts';

/** How many drills that go step by step run at the same time: they mostly wait. */
export const STEP_WORKERS = 3;

/** What a plan needs to know of a drill. */
interface Named {
  /** A column of a staircase. */
  name: string;
}

/** A drill to run under a stage. */
export interface PlannedCell<Drill extends Named> {
  stage: string;
  drill: Drill;
}

/** Every drill under every stage; a drill that can break none of the stages is left out. */
export function allCells<Drill extends Named>(stages: string[], drills: Drill[]): PlannedCell<Drill>[] {
  const isOfUse = ({ name }: Drill) => stages.some((stage) => !hasNothingToBreak(stage, name));
  return stages.flatMap((stage) => drills.filter(isOfUse).map((drill) => ({ stage, drill })));
}

/**
 * The story of the stages: under each the rush, the drills that this stage fixes, and those that it still fails but for what is aside. What a stage
 * fixes is run under the stage before as well, so that the two stand side by side.
 */
export function storyCells<Drill extends Named>(stages: string[], drills: Drill[]): PlannedCell<Drill>[] {
  const cells = new Map<string, PlannedCell<Drill>>();
  const add = (stage: string, drill: Drill) => cells.set(`${stage} ${drill.name}`, { stage, drill });
  for (const stage of stages) {
    const before = stageBefore(stage);
    const isFixed = ({ name }: Drill) => fixes(stage, name);
    const isFailed = ({ name }: Drill) => taughtVerdict(stage, name) === 'fail' && !columnOf(name)?.isAside;

    if (before) for (const drill of drills.filter(isFixed)) add(before, drill);
    for (const drill of drills) if (drill.name === 'rush' || isFixed(drill) || isFailed(drill)) add(stage, drill);
  }
  return [...cells.values()];
}

/** True when the stage passes a drill that the stage before it fails. */
export function fixes(stage: string, drill: string): boolean {
  const before = stageBefore(stage);
  return before !== undefined && taughtVerdict(before, drill) === 'fail' && taughtVerdict(stage, drill) === 'pass';
}

/** The stage whose number is one less; what is beyond the stages comes after the last. Undefined for the first. */
export function stageBefore(stage: string): string | undefined {
  return rowOf(stage)?.before;
}
