// What a run says of the locks that it grades.

import { listOf } from '../evidence/numbers.ts';
import type { DrillResult, Grade, Results } from '../evidence/results.ts';
import { isCheck } from '../staircase/contract.ts';
import { isAsTaught, isBeyondPromise, ranStaircases } from './cells.ts';

/** The drills that a graded lock was put through, those that do not apply left out. */
function appliedTo({ stage }: Grade, { stages }: Results): DrillResult[] {
  const drills = stages.find((row) => row.stage === stage)?.drills ?? [];
  return drills.filter(({ verdict }) => verdict !== 'not-applicable');
}

/** True when every drill that applies to the graded locks was run and holds, and so does every scope of the search. */
export function holdsAll(results: Results): boolean {
  const isWhole = (grade: Grade) => {
    const applied = appliedTo(grade, results);
    const { problem, search = [], searchUnknown = [] } = grade;
    const isSearched = problem === undefined && search.length + searchUnknown.length === 0;
    return isSearched && applied.length > 0 && applied.every(({ verdict }) => verdict === 'pass');
  };
  return results.leftOut.length === 0 && (results.grades ?? []).every(isWhole);
}

/** `my-lock: 20 of 20 checks and 11 of 13 drills hold; it fails long-sale and failover.` */
export function gradeLine(grade: Grade, results: Results): string {
  const { stage, file, problem, search = [], searchUnknown = [] } = grade;
  if (problem !== undefined) return `${stage}: it can't be graded: ${problem} (${file}).`;
  const applied = appliedTo(grade, results);
  const named = (verdict: DrillResult['verdict']) =>
    listOf(applied.filter((result) => result.verdict === verdict).map(({ drill }) => drill));
  const clauses = [
    `${countsOf(applied)} hold`,
    ...(named('fail') ? [`it fails ${named('fail')}`] : []),
    ...(search.length > 0 ? [`the search breaks it in ${listOf(search)}`] : []),
    ...(searchUnknown.length > 0 ? [`the search came to no end in ${listOf(searchUnknown)}`] : []),
    ...(named('unknown') ? [`nothing is known of ${named('unknown')}`] : []),
  ];
  return `${stage}: ${clauses.join('; ')}.`;
}

/** How many hold, such as `20 of 20 checks and 11 of 13 drills`. */
function countsOf(applied: DrillResult[]): string {
  const isDrill = (cell: DrillResult) => !isOfContract(cell);
  const counts = [
    ...countOfHeld(applied.filter(isOfContract), 'checks'),
    ...countOfHeld(applied.filter(isDrill), 'drills'),
  ];
  return counts.join(' and ') || '0 of 0 drills';
}

/** The row of a graded lock: what holds, what it fails and promises, what it fails and does not promise, and what is unknown. */
export function gradeRow(grade: Grade, results: Results): string[] {
  const { stage, problem } = grade;
  if (problem !== undefined) return [stage, `it can't be graded: ${problem}`, '', '', ''];
  const applied = appliedTo(grade, results);
  const isBeyond = (result: DrillResult) => isBeyondPromise(results, stage, result);
  const named = (cells: DrillResult[]) => listOf(cells.map(({ drill }) => drill));
  const failed = applied.filter(({ verdict }) => verdict === 'fail');
  return [
    stage,
    countsOf(applied),
    named(failed.filter((result) => !isBeyond(result))),
    named(failed.filter(isBeyond)),
    named(applied.filter(({ verdict }) => verdict === 'unknown')),
  ];
}

const isOfContract = ({ drill }: DrillResult) => isCheck(drill);

function countOfHeld(applied: DrillResult[], word: string): string[] {
  const held = applied.filter(({ verdict }) => verdict === 'pass').length;
  return applied.length > 0 ? [`${held} of ${applied.length} ${word}`] : [];
}

/** The drills that a graded lock does not hold in, each with its reason. The contract has its own lines. */
export function failures(grade: Grade, results: Results): DrillResult[] {
  return appliedTo(grade, results).filter((cell) => cell.verdict !== 'pass' && !isOfContract(cell));
}

/** `my-lock: 11 of 13 drills hold`, or how many locks were graded. */
export function gradeTitle(grades: Grade[], results: Results): string {
  const [grade, ...others] = grades;
  if (grade === undefined || others.length > 0) return `${grades.length} locks graded`;
  return gradeLine(grade, results).split('; ')[0]?.replace(/\.$/, '') ?? grade.stage;
}

/** Whether the built-in locks, which are the baseline, came out as expected: if not, the grades prove nothing. */
export function baselineLine({ stages, verdict }: Results): string {
  const rows = stages.filter(({ drills }) => drills.some(({ taught }) => taught !== null));
  if (rows.length === 0) return 'No built-in lock ran as a baseline.';
  const cells = rows.flatMap(({ drills }) => drills).filter((cell) => isAsTaught(cell) !== undefined);
  const asTaught = cells.filter((cell) => isAsTaught(cell)).length;
  const warning = verdict === 'as-taught' ? '' : ' Conclude nothing: a drill did not find what it must.';
  return `Baseline: ${listOf(rows.map(({ stage }) => stage))}, ${asTaught} of ${cells.length} cells as expected.${warning}`;
}

/** The drills of this run that ask for what a published lock does not promise, each with how it went. */
export function notPromised(grade: Grade, results: Results): string[] {
  const rows = ranStaircases(results).flatMap(({ rows }) => rows);
  const row = rows.find(({ stage }) => stage === grade.stage);
  return Object.entries(grade.doesNotPromise ?? {}).flatMap(([drill, why]) => {
    const state = row?.cells.find((cell) => cell.drill === drill)?.state ?? 'blank';
    return state === 'blank' ? [] : [`${drill} (${state.replace('-', ' ')}): ${why}`];
  });
}
