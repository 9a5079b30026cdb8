import type { DrillResult, Grade, Results } from '../results.ts';
import { staircaseOf } from './cells.ts';
import { listOf } from './numbers.ts';

/** The drills that a graded lock was put through, those that do not apply left out. */
function appliedTo({ stage }: Grade, { stages }: Results): DrillResult[] {
  const drills = stages.find((row) => row.stage === stage)?.drills ?? [];
  return drills.filter(({ verdict }) => verdict !== 'not-applicable');
}

/** True when every drill that applies to the graded locks was run and holds. */
export function holdsAll(results: Results): boolean {
  const isWhole = (grade: Grade) => {
    const applied = appliedTo(grade, results);
    return grade.problem === undefined && applied.length > 0 && applied.every(({ verdict }) => verdict === 'pass');
  };
  return results.leftOut.length === 0 && (results.grades ?? []).every(isWhole);
}

/** `my-lock: 11 of 13 drills hold; it fails long-sale and failover.` */
export function gradeLine(grade: Grade, results: Results): string {
  const { stage, file, problem } = grade;
  if (problem !== undefined) return `${stage}: it can't be graded: ${problem} (${file}).`;
  const applied = appliedTo(grade, results);
  const named = (verdict: DrillResult['verdict']) =>
    listOf(applied.filter((result) => result.verdict === verdict).map(({ drill }) => drill));
  const clauses = [
    `${applied.filter(({ verdict }) => verdict === 'pass').length} of ${applied.length} drills hold`,
    ...(named('fail') ? [`it fails ${named('fail')}`] : []),
    ...(named('unknown') ? [`nothing is known of ${named('unknown')}`] : []),
  ];
  return `${stage}: ${clauses.join('; ')}.`;
}

/** How a published lock was set, as pairs of an option and what it was given. */
export function optionLines({ options = {} }: Grade): [name: string, value: string][] {
  return Object.entries(options);
}

/** The drills of this run that ask for what a published lock does not promise, each with how it went. */
export function notPromised(grade: Grade, results: Results): string[] {
  const row = staircaseOf(results).rows.find(({ stage }) => stage === grade.stage);
  return Object.entries(grade.doesNotPromise ?? {}).flatMap(([drill, why]) => {
    const state = row?.cells.find((cell) => cell.drill === drill)?.state ?? 'blank';
    return state === 'blank' ? [] : [`${drill} (${state.replace('-', ' ')}): ${why}`];
  });
}
