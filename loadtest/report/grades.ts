// What a run says of the locks that it grades.

import { listOf } from '../evidence/numbers.ts';
import type { Answer, Grade, Results } from '../evidence/results.ts';
import { isCheck } from '../staircase/contract.ts';
import { isAsTaught } from './cells.ts';

type State = 'broken' | 'holds' | 'not-promised' | 'unknown' | 'does-not-apply';
type Finding = Answer['broken'][number] & { state: State };

const stateOf = {
  pass: 'holds',
  fail: 'broken',
  holds: 'holds',
  fails: 'broken',
  unknown: 'unknown',
  'not-applicable': 'does-not-apply',
} as const;

/** What is known of a lock, and what that comes to: first of all what is wrong with it. */
export function answerOf(grade: Grade, results: Results): Answer {
  const { stage, problem } = grade;
  const findings = findingsOf(grade, results);
  const of = (...states: State[]) =>
    findings.flatMap(({ state, ...finding }) => (states.includes(state) ? [finding] : []));
  const lists = {
    broken: of('broken'),
    holds: of('holds'),
    notPromised: of('not-promised'),
    doesNotApply: of('does-not-apply'),
    notLookedAt: of('unknown'),
  };
  const [first] = lists.broken;
  const [open] = of('unknown');
  const answer = (verdict: Answer['verdict'], said: string) => ({ verdict, sentence: `${stage} ${said}`, ...lists });
  if (problem !== undefined) return answer('unknown', `can't be graded: ${problem.replace(/\.*$/, '.')}`);
  if (first) return answer('broken', `is broken: ${first.says}`);
  if (open) return answer('unknown', `is not known: ${open.name} came to nothing. ${open.says}`);
  if (lists.holds.length === 0) return answer('unknown', 'is not known: nothing applies to it.');
  return answer('holds', `breaks none of its promises: ${countsOf(findings)} hold.`);
}

function findingsOf(grade: Grade, { stages, leftOut, log }: Results): Finding[] {
  const { stage, search = [] } = grade;
  const cells = stages.find((row) => row.stage === stage)?.drills ?? [];
  const renews = cells.some(({ drill, verdict }) => drill === 'contract-long-hold' && verdict === 'pass');

  /** With why it need not hold, where that is so. */
  function excused(finding: Finding): Finding {
    const why = { ...grade.doesNotPromise, ...(renews && SEEN_TO_RENEW) }[finding.name];
    return finding.state === 'broken' && why ? { ...finding, says: why, state: 'not-promised' } : finding;
  }
  const where = log ? 'In virtual time' : 'On real servers';
  const cellsOf = (isOfChecks: boolean) =>
    cells
      .filter(({ drill }) => isCheck(drill) === isOfChecks)
      .map(({ drill: name, verdict, reasons, witnesses: steps }): Finding => {
        const says = reasons.join(' ');
        if (isOfChecks) return { name, kind: 'check', says, under: UNDER_CHECKS, steps, state: stateOf[verdict] };
        return { name, kind: 'drill', says, under: where, steps, state: stateOf[verdict] };
      });
  const searched = search.map(({ scope: name, verdict, reason: says, under, steps }): Finding => {
    return { name, kind: 'order', says, under, steps, state: stateOf[verdict] };
  });
  const missing = leftOut
    .filter((cell) => cell.startsWith(`${stage} `))
    .map((cell): Finding => {
      const name = cell.slice(stage.length + 1);
      return { name, kind: 'drill', says: 'It was not run.', under: '', steps: [], state: 'unknown' };
    });
  return [...cellsOf(true), ...searched, ...cellsOf(false), ...missing].map(excused);
}

const UNDER_CHECKS = 'In virtual time, with one fault each';

/** Why a lock need not hold it that was seen to renew, whether it says so or not; undefined for what it must. */
const SEEN_TO_RENEW = {
  'hung-holder': 'It renews its lease for as long as its process lives.',
  'long-sale': undefined,
};

/** How many hold, such as `20 of 20 checks and 11 of 13 drills`, of those that apply and are promised. */
function countsOf(findings: Pick<Finding, 'kind' | 'state'>[]): string {
  const words = { check: 'checks', order: 'scopes of the search', drill: 'drills' };
  const counts = Object.entries(words).flatMap(([kind, word]) => {
    const of = findings.filter(
      (each) => each.kind === kind && !['does-not-apply', 'not-promised'].includes(each.state),
    );
    return of.length > 0 ? [`${of.filter(({ state }) => state === 'holds').length} of ${of.length} ${word}`] : [];
  });
  return listOf(counts) || '0 of 0 drills';
}

const titles = { holds: 'breaks no promise', broken: 'is broken', unknown: 'is not known' };

/** `my-lock is broken`, or how many locks were graded. */
export function gradeTitle(grades: Grade[]): string {
  const [grade, ...others] = grades;
  if (grade === undefined || others.length > 0) return `${grades.length} locks graded`;
  return `${grade.stage} ${titles[grade.answer?.verdict ?? 'unknown']}`;
}

/**
 * Of these answers the worst: a broken promise weighs more than what is not known. Nothing is known to hold where a built-in lock, as the
 * baseline, did not come out as expected.
 */
export function worstOf(grades: Grade[], { stages, leftOut }: Pick<Results, 'stages' | 'leftOut'>): Answer['verdict'] {
  const verdicts = grades.map(({ answer }) => answer?.verdict);
  const isBaseline = leftOut.length === 0 && taughtCells(stages).every((cell) => isAsTaught(cell));
  const worst = (['broken', 'unknown'] as const).find((verdict) => verdicts.includes(verdict));
  return worst ?? (isBaseline ? 'holds' : 'unknown');
}

const taughtCells = (rows: Results['stages']) =>
  rows.flatMap(({ drills }) => drills).filter(({ taught, verdict }) => taught !== null && verdict !== 'not-applicable');

/** Whether the built-in locks, which are the baseline, came out as expected: if not, the grades prove nothing. */
export function baselineLine({ stages }: Results): string {
  const rows = stages.filter(({ drills }) => drills.some(({ taught }) => taught !== null));
  if (rows.length === 0) return 'No built-in lock ran as a baseline.';
  const cells = taughtCells(rows);
  const asTaught = cells.filter((cell) => isAsTaught(cell)).length;
  const warning = asTaught === cells.length ? '' : ' Conclude nothing: a drill did not find what it must.';
  return `Baseline: ${listOf(rows.map(({ stage }) => stage))}, ${asTaught} of ${cells.length} cells as expected.${warning}`;
}
