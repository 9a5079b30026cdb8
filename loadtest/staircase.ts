import { countOf } from './report/numbers.ts';
import type { DrillResult, Results } from './results.ts';

/**
 * The columns of the staircase, in its order: the question that each drill asks, and what is taught for the stages from
 * 0 to 8: ✔ holds, ✘ fails, a blank is left to the measurement.
 */
export const drills: Record<string, { asks: string; picture: string }> = {
  'one-node-rush': { asks: 'does one node alone lose sales?', picture: '✘✔✔✔✔✔✔✔✔' },
  rush: { asks: 'do two nodes together lose sales?', picture: '✘✘✔✔✔✔✔✔✔' },
  'sell-out': { asks: 'is more sold than there is?', picture: '✘✘✔✔✔✔✔✔✔' },
  'long-wait': { asks: 'does waiting cost memory?', picture: '  ✘✔✔✔✔✔✔' },
  'crashed-holder': { asks: 'does the shop sell again after a holder has crashed?', picture: '   ✘✔✔✔✔✔' },
  'slow-holder': { asks: 'does a holder that was too slow harm the holders after it?', picture: '    ✘✔✔✔✔' },
  'nested-call': { asks: 'may a holder ask for its own lock again?', picture: '      ✘✔✔' },
  'long-sale': { asks: 'does a sale keep its lock when it takes longer than the lease?', picture: '       ✘✔' },
  'paused-process': { asks: 'is a sale lost when a holder is paused and wakes up late?', picture: '        ✘' },
  'client-gone': { asks: 'do clients that hung up still wait for the lock?', picture: ' ✔✔✔✔✔✔✔✔' },
};

/** What the staircase says of a cell: null where it is left to the measurement. */
export function taughtVerdict(lockVersion: number, drill: string): 'pass' | 'fail' | null {
  const sign = drills[drill]?.picture[lockVersion];
  if (sign === '✔') return 'pass';
  return sign === '✘' ? 'fail' : null;
}

/** The verdict on a run: as taught when every cell that the staircase draws came out as drawn, and none is unknown. */
export function judgeRun(stages: Results['stages'], leftOut: string[]): Pick<Results, 'verdict' | 'verdictReasons'> {
  const cells = stages.flatMap(({ stage, drills }) => drills.map((drill) => ({ stage, ...drill })));
  const notAsTaught = cells.filter((cell) => isSettled(cell) && cell.taught !== null && cell.verdict !== cell.taught);
  const unknown = cells.filter((cell) => cell.verdict === 'unknown');
  const hasRun = cells.some((cell) => cell.verdict !== 'not-applicable');

  const verdictReasons = [
    ...notAsTaught.map(
      ({ stage, drill, verdict, taught }) => `${stage} ${drill}: ${verdict}, but ${taught} is taught.`,
    ),
    ...unknown.map(({ stage, drill, reasons }) => `${stage} ${drill}: unknown. ${reasons.join(' ')}`),
    ...(leftOut.length > 0 ? [`The run was cut short: ${countOf(leftOut.length, 'cell')} left out.`] : []),
    ...(hasRun ? [] : ['No drill was run.']),
  ];
  if (notAsTaught.length > 0) return { verdict: 'not-as-taught', verdictReasons };
  return { verdict: verdictReasons.length > 0 ? 'unknown' : 'as-taught', verdictReasons };
}

function isSettled({ verdict }: DrillResult) {
  return verdict === 'pass' || verdict === 'fail';
}
