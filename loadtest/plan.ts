import { locks } from '../locks/index.ts';
import type { Drill } from './drill.ts';
import { taughtVerdict } from './staircase.ts';

/** A drill to run under a stage. */
export interface Cell {
  stage: string;
  drill: Drill;
}

/** Every drill under every stage. */
export function allCells(stages: string[], drills: Drill[]): Cell[] {
  return stages.flatMap((stage) => drills.map((drill) => ({ stage, drill })));
}

/**
 * The story of the stages: under each the rush and the sell-out, the drills that this stage fixes, then those that it still
 * fails. What a stage fixes is run under the stage before as well, so that the two stand side by side.
 */
export function storyCells(stages: string[], drills: Drill[]): Cell[] {
  const cells = new Map<string, Cell>();
  const add = (stage: string, drill: Drill) => cells.set(`${stage} ${drill.name}`, { stage, drill });
  for (const stage of stages) {
    const version = versionOf(stage);
    const before = Object.keys(locks).find((name) => versionOf(name) === version - 1);
    const isFixed = ({ name }: Drill) =>
      taughtVerdict(version - 1, name) === 'fail' && taughtVerdict(version, name) === 'pass';
    const isFailed = ({ name }: Drill) => taughtVerdict(version, name) === 'fail';
    const isRush = ({ name }: Drill) => name === 'rush' || name === 'sell-out';

    if (before) for (const drill of drills.filter(isFixed)) add(before, drill);
    for (const drill of drills.filter((drill) => isRush(drill) || isFixed(drill))) add(stage, drill);
    for (const drill of drills.filter(isFailed)) add(stage, drill);
  }
  return [...cells.values()];
}

function versionOf(stage: string) {
  return Number.parseInt(stage, 10);
}
