// What a run says of the locks that it grades.

import { WHILE_RENEWED } from '../evidence/promises.ts';
import type { Answer, DrillResult, Grade, Results } from '../evidence/results.ts';
import { asClause, listOf } from '../narration/numbers.ts';
import { isCheck, SEEDED_ORDERS } from '../staircase/conformance.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { cellsIn } from './cells.ts';

type Finding = Answer['broken'][number];
type Findings = Omit<Answer, 'verdict' | 'sentence' | 'searched'>;

/** Which findings of an answer a verdict is among. */
const listOfVerdict = {
  pass: 'holds',
  fail: 'broken',
  holds: 'holds',
  fails: 'broken',
  unknown: 'notLookedAt',
  'not-applicable': 'doesNotApply',
} as const;

/**
 * What is known of a lock, and what that comes to: first of all what is wrong with it. What the search did not come to the end of leaves
 * open whether it holds only when it is required.
 */
export function answerOf(grade: Grade, results: Results, isSearchRequired = false): Answer {
  const { stage, problem } = grade;
  const findings = findingsOf(grade, results);
  const [first] = findings.broken;
  const { notLookedAt } = findings;
  const open = notLookedAt.find(({ kind }) => kind !== 'order') ?? (isSearchRequired ? notLookedAt[0] : undefined);
  const searched = searchedOf(grade);
  const answer = (verdict: Answer['verdict'], said: string): Answer => ({
    ...{ verdict, sentence: `${stage} ${said}`, searched },
    ...findings,
  });
  if (problem !== undefined) return answer('unknown', `can't be graded: ${asClause(problem)}.`);
  if (first) return answer('broken', `is broken: ${first.says}`);
  if (open && isAllOpen(findings, 'check')) {
    const played = findings.holds.filter(({ kind }) => kind === 'drill');
    const ofDrills = played.length > 0 ? ` On real servers ${countsOf(played)} hold.` : '';
    const advice = grade.search && isAllOpen(findings, 'drill') ? ' Play the drills on real servers: --real.' : '';
    return answer('unknown', `can't be simulated. ${open.says}${ofDrills}${advice}`);
  }
  if (open) return answer('unknown', `is not known: ${open.name} could not be run to its end. ${open.says}`);
  if (findings.holds.length === 0) return answer('unknown', 'is not known: nothing applies to it.');
  return answer('holds', `breaks none of its promises: ${countsOf(findings.holds)} hold.`);
}

/** First what the checks have found, then the search, then the drills. */
function findingsOf(grade: Grade, { stages, leftOut, log }: Results): Findings {
  const { stage, search = [] } = grade;
  const cells = stages.find((row) => row.stage === stage)?.drills ?? [];
  const renews = cells.some(({ drill, verdict }) => drill === 'contract-long-hold' && verdict === 'pass');
  const excuses: Record<string, string> = { ...grade.doesNotPromise, ...(renews && SEEN_TO_RENEW) };
  const found: Findings = { broken: [], holds: [], notPromised: [], doesNotApply: [], notLookedAt: [] };

  function add(verdict: keyof typeof listOfVerdict, finding: Finding) {
    const list = listOfVerdict[verdict];
    const why = excuses[finding.name];
    if (list === 'broken' && why) found.notPromised.push({ ...finding, says: why });
    else found[list].push(finding);
  }
  function addCells(kind: 'check' | 'drill', those: DrillResult[], underOf: (name: string) => string) {
    for (const { drill: name, verdict, reasons, evidence: steps } of those) {
      add(verdict, { name, kind, says: reasons.join(' '), steps, under: underOf(name) });
    }
  }
  const isVirtual = (name: string) => log !== undefined || name === SEEDED_ORDERS;
  const checks = cells.filter(({ drill }) => isCheck(drill));
  addCells('check', checks, () => 'In virtual time, with one fault each');
  for (const { scope: name, verdict, reason: says, under, steps } of search) {
    add(verdict, { name, kind: 'order', says, under, steps });
  }
  const drills = cells.filter(({ drill }) => !isCheck(drill));
  addCells('drill', drills, (name) => (isVirtual(name) ? 'In virtual time' : 'On real servers'));
  for (const { drill: name } of cellsIn(leftOut).filter((cell) => cell.stage === stage)) {
    add('unknown', { name, kind: 'drill', says: 'It was not run.', under: '', steps: [] });
  }
  return found;
}

/** Nothing is known of all that is of this kind. */
function isAllOpen({ notLookedAt, broken, holds, notPromised }: Findings, kind: Finding['kind']): boolean {
  const isSome = (findings: Finding[]) => findings.some((finding) => finding.kind === kind);
  return isSome(notLookedAt) && ![broken, holds, notPromised].some(isSome);
}

/** How much of a lock was searched, and why not the rest. */
function searchedOf({ search = [] }: Grade): string {
  const open = search.filter(({ verdict }) => verdict === 'unknown');
  const ended = search.length - open.length;
  const reasons = [...new Set(open.map(({ reason }) => reason))].map((reason) => {
    const scopes = open.filter((each) => each.reason === reason).map(({ scope }) => scope);
    return open.length === search.length && scopes.length === open.length ? reason : `${listOf(scopes)}: ${reason}`;
  });
  if (ended === 0) return ['Not searched.', ...reasons].join(' ');
  const said = `Searched: every interleaving of a few processes, in ${ended} of ${search.length} scopes.`;
  return [said, ...(open.length > 0 ? ['Not to the end:'] : []), ...reasons].join(' ');
}

const kinds = { check: 'checks', drill: 'drills' };

/** Why a lock need not hold it that was seen to renew, whether it says so or not; nothing for what it must. */
const SEEN_TO_RENEW = {
  ...Object.fromEntries(WHILE_RENEWED.map((drill) => [drill, 'It renews its lease for as long as its process lives.'])),
  'long-sale': '',
};

/** How many hold, such as `20 of 20 checks and 11 of 11 drills`: all that apply and are promised. */
function countsOf(holds: Finding[]): string {
  const counts = Object.entries(kinds).flatMap(([kind, word]) => {
    const count = holds.filter((each) => each.kind === kind).length;
    return count > 0 ? [`${count} of ${count} ${word}`] : [];
  });
  return listOf(counts.length > 0 ? counts : [`${holds.length} scopes of the search`]);
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
  const isBaseline = leftOut.length === 0 && expectedCells(stages).every(isAsExpected);
  const worst = (['broken', 'unknown'] as const).find((verdict) => verdicts.includes(verdict));
  return worst ?? (isBaseline ? 'holds' : 'unknown');
}

const isAsExpected = (cell: DrillResult) => standingOf(cell) === 'as expected';
const expectedCells = (rows: Results['stages']) =>
  rows
    .flatMap(({ drills }) => drills)
    .filter(({ expected, verdict }) => expected !== null && verdict !== 'not-applicable');

/** Whether the built-in locks, which are the baseline, came out as expected: if not, the grades prove nothing. */
export function baselineLine({ stages }: Results): string {
  const rows = stages.filter(({ drills }) => drills.some(({ expected }) => expected !== null));
  if (rows.length === 0) return 'No built-in lock ran as a baseline.';
  const cells = expectedCells(rows);
  const asExpected = cells.filter(isAsExpected).length;
  const warning = asExpected === cells.length ? '' : ' Conclude nothing: a drill did not find what it must.';
  return `Baseline: ${listOf(rows.map(({ stage }) => stage))}, ${asExpected} of ${cells.length} cells as expected.${warning}`;
}
