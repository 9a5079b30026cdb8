// What a run says of the locks that it grades.

import { listOf } from '../evidence/numbers.ts';
import type { Answer, DrillResult, Grade, Results } from '../evidence/results.ts';
import { isCheck, SEEDED_ORDERS } from '../staircase/contract.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { cellsIn } from './cells.ts';

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
  const found = cells.map(({ drill: name, verdict, reasons, witnesses: steps }): Finding => {
    const common = { name, says: reasons.join(' '), steps, state: stateOf[verdict] };
    if (isCheck(name)) return { ...common, kind: 'check', under: 'In virtual time, with one fault each' };
    const isVirtual = log !== undefined || name === SEEDED_ORDERS;
    return { ...common, kind: 'drill', under: isVirtual ? 'In virtual time' : 'On real servers' };
  });
  const searched = search.map(({ scope: name, verdict, reason: says, under, steps }): Finding => {
    return { name, kind: 'order', says, under, steps, state: stateOf[verdict] };
  });
  const missing = cellsIn(leftOut.filter((cell) => cell.startsWith(`${stage} `))).map(({ drill: name }): Finding => {
    return { name, kind: 'drill', says: 'It was not run.', under: '', steps: [], state: 'unknown' };
  });
  const all = [...found, ...searched, ...missing].map(excused);
  return Object.keys(kinds).flatMap((kind) => all.filter((finding) => finding.kind === kind));
}

/** In the order in which they are told. */
const kinds = { check: 'checks', order: 'scopes of the search', drill: 'drills' };

/** Why a lock need not hold it that was seen to renew, whether it says so or not; undefined for what it must. */
const SEEN_TO_RENEW = {
  'hung-holder': 'It renews its lease for as long as its process lives.',
  'long-sale': undefined,
};

/** How many hold, such as `20 of 20 checks and 11 of 13 drills`, of those that apply and are promised. */
function countsOf(findings: Pick<Finding, 'kind' | 'state'>[]): string {
  const counts = Object.entries(kinds).flatMap(([kind, word]) => {
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
  const isBaseline = leftOut.length === 0 && taughtCells(stages).every(isAsExpected);
  const worst = (['broken', 'unknown'] as const).find((verdict) => verdicts.includes(verdict));
  return worst ?? (isBaseline ? 'holds' : 'unknown');
}

const isAsExpected = (cell: DrillResult) => standingOf(cell) === 'as expected';
const taughtCells = (rows: Results['stages']) =>
  rows.flatMap(({ drills }) => drills).filter(({ taught, verdict }) => taught !== null && verdict !== 'not-applicable');

/** Whether the built-in locks, which are the baseline, came out as expected: if not, the grades prove nothing. */
export function baselineLine({ stages }: Results): string {
  const rows = stages.filter(({ drills }) => drills.some(({ taught }) => taught !== null));
  if (rows.length === 0) return 'No built-in lock ran as a baseline.';
  const cells = taughtCells(rows);
  const asTaught = cells.filter(isAsExpected).length;
  const warning = asTaught === cells.length ? '' : ' Conclude nothing: a drill did not find what it must.';
  return `Baseline: ${listOf(rows.map(({ stage }) => stage))}, ${asTaught} of ${cells.length} cells as expected.${warning}`;
}
