import type { DrillResult, Results } from './results.ts';

/** Each drill, and the first stage that holds in it. From there on every stage does; before it, the stages named fail. */
export const drills = {
  'one-node-rush': { holdsFrom: 1, failsAt: [0], asks: 'does one node alone lose sales?' },
  rush: { holdsFrom: 2, failsAt: [0, 1], asks: 'do two nodes together lose sales?' },
  'sell-out': { holdsFrom: 2, failsAt: [0, 1], asks: 'is more sold than there is?' },
} as const;

export type DrillName = keyof typeof drills;

/** What the staircase says of a cell: null where it is left to the measurement. */
export function taughtVerdict(stageNumber: number, drill: DrillName): 'pass' | 'fail' | null {
  const { holdsFrom, failsAt } = drills[drill];
  if (stageNumber >= holdsFrom) return 'pass';
  return (failsAt as readonly number[]).includes(stageNumber) ? 'fail' : null;
}

/** The verdict on a run: as taught when every cell that the staircase draws came out as drawn, and none is unknown. */
export function judgeRun(stages: Results['stages'], leftOut: string[]): Pick<Results, 'verdict' | 'verdictReasons'> {
  const cells = stages.flatMap(({ stage, drills }) => drills.map((drill) => ({ stage, ...drill })));
  const notAsTaught = cells.filter((cell) => isSettled(cell) && cell.taught !== null && cell.verdict !== cell.taught);
  const unknown = cells.filter((cell) => cell.verdict === 'unknown');
  const ran = cells.filter((cell) => cell.verdict !== 'not-applicable');

  const verdictReasons = [
    ...notAsTaught.map(
      ({ stage, drill, verdict, taught }) => `${stage} ${drill}: ${verdict}, but ${taught} is taught.`,
    ),
    ...unknown.map(({ stage, drill, reasons }) => `${stage} ${drill}: unknown. ${reasons.join(' ')}`),
    ...(leftOut.length > 0 ? [`The run was cut short: ${leftOut.length} drills were left out.`] : []),
    ...(ran.length === 0 ? ['Nothing was run.'] : []),
  ];
  if (notAsTaught.length > 0) return { verdict: 'not-as-taught', verdictReasons };
  return { verdict: verdictReasons.length > 0 ? 'unknown' : 'as-taught', verdictReasons };
}

function isSettled({ verdict }: DrillResult) {
  return verdict === 'pass' || verdict === 'fail';
}
