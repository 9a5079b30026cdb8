// What a run says of the locks that it grades.

import { WHILE_RENEWED } from '../evidence/promises.ts';
import type { Answer, DrillResult, Grade, Results } from '../evidence/results.ts';
import { type Both, inLanguage } from '../narration/language.ts';
import { asClause } from '../narration/numbers.ts';
import { either, listSaid, sentencesSaid } from '../narration/spoken.ts';
import { isCheck, SEEDED_ORDERS } from '../staircase/conformance.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { cellsIn, evidenceOf, reasonOf } from './cells.ts';

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
 * What is known of a lock, and what that comes to, in the language that is spoken: first of all what is wrong with it. What the model checker did not
 * finish leaves open whether it holds only when it is required.
 */
export function answerOf(grade: Grade, results: Results, isSearchRequired = false): Answer {
  const { stage, problem } = grade;
  const findings = findingsOf(grade, results);
  const [first] = findings.broken;
  const { notLookedAt } = findings;
  const open = notLookedAt.find(({ kind }) => kind !== 'order') ?? (isSearchRequired ? notLookedAt[0] : undefined);
  const searched = searchedOf(grade);
  const answer = (verdict: Answer['verdict'], said: string): Answer => ({
    ...{ verdict, sentence: `${stage}${said}`, searched },
    ...findings,
  });
  if (problem !== undefined) {
    const why = asClause(problem);
    return answer('unknown', either(` can't be graded: ${why}.`, ` 无法检验：${why}。`));
  }
  if (first) return answer('broken', either(` is broken: ${first.says}`, ` 有缺陷：${first.says}`));
  if (open && isAllOpen(findings, 'check')) {
    const played = findings.holds.filter(({ kind }) => kind === 'drill');
    const counts = countsOf(played);
    const ofDrills = either(`On real servers ${counts} hold.`, `在真实服务器上，${counts}。`);
    const advice = either('Play the drills on real servers: --real.', '请在真实服务器上运行演练：--real。');
    return answer(
      'unknown',
      sentencesSaid([
        either(" can't be simulated.", ' 无法模拟。'),
        open.says,
        played.length > 0 ? ofDrills : '',
        grade.search && isAllOpen(findings, 'drill') ? advice : '',
      ]),
    );
  }
  if (open) {
    const unended = either(
      ` is not known: ${open.name} could not be run to its end.`,
      ` 结果未知：${open.name} 没有运行完。`,
    );
    return answer('unknown', sentencesSaid([unended, open.says]));
  }
  if (findings.holds.length === 0)
    return answer('unknown', either(' is not known: nothing applies to it.', ' 结果未知：没有适用的检查。'));
  const counts = countsOf(findings.holds);
  return answer('holds', either(` breaks none of its promises: ${counts} hold.`, ` 信守了全部承诺：${counts}。`));
}

/** First what the checks have found, then the model checker, then the drills. */
function findingsOf(grade: Grade, { stages, leftOut, log }: Results): Findings {
  const { stage, search = [] } = grade;
  const cells = stages.find((row) => row.stage === stage)?.drills ?? [];
  const renews = cells.some(({ drill, verdict }) => drill === 'contract-long-hold' && verdict === 'pass');
  const excuses: Record<string, string> = { ...grade.doesNotPromise, ...(renews && seenToRenew()) };
  const found: Findings = { broken: [], holds: [], notPromised: [], doesNotApply: [], notLookedAt: [] };

  function add(verdict: keyof typeof listOfVerdict, finding: Finding) {
    const list = listOfVerdict[verdict];
    const why = excuses[finding.name];
    if (list === 'broken' && why) found.notPromised.push({ ...finding, says: why });
    else found[list].push(finding);
  }
  function addCells(kind: 'check' | 'drill', those: DrillResult[], underOf: (name: string) => string) {
    for (const result of those) {
      const { drill: name, verdict } = result;
      add(verdict, { name, kind, says: reasonOf(result), steps: evidenceOf(result), under: underOf(name) });
    }
  }
  const isVirtual = (name: string) => log !== undefined || name === SEEDED_ORDERS;
  const checks = cells.filter(({ drill }) => isCheck(drill));
  addCells('check', checks, () => either('In simulated time, with one fault each', '模拟时间，每次一个故障'));
  for (const { scope: name, verdict, reason: says, under, steps } of search) {
    add(verdict, { name, kind: 'order', says, under, steps });
  }
  const drills = cells.filter(({ drill }) => !isCheck(drill));
  addCells('drill', drills, (name) =>
    isVirtual(name) ? either('In simulated time', '模拟时间') : either('On real servers', '真实服务器'),
  );
  for (const { drill: name } of cellsIn(leftOut).filter((cell) => cell.stage === stage)) {
    add('unknown', { name, kind: 'drill', says: either('It was not run.', '没有运行。'), under: '', steps: [] });
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
    const isOfAll = open.length === search.length && scopes.length === open.length;
    return isOfAll ? reason : either(`${listSaid(scopes)}: ${reason}`, `${listSaid(scopes)}：${reason}`);
  });
  if (ended === 0) return sentencesSaid([either('Not searched.', '没有做模型检查。'), ...reasons]);
  const said = either(
    `Searched: every interleaving of a few processes, in ${ended} of ${search.length} scopes.`,
    `模型检查：几个进程的所有交错，${search.length} 个检查范围中完成 ${ended} 个。`,
  );
  return sentencesSaid([said, open.length > 0 ? either('Not to the end:', '没有检查完：') : '', ...reasons]);
}

/** Why a lock need not hold it that was seen to renew, whether it says so or not; nothing for what it must. */
function seenToRenew(): Record<string, string> {
  const why = either('It renews its lease for as long as its process lives.', '只要进程还在，它就一直续期。');
  return { ...Object.fromEntries(WHILE_RENEWED.map((drill) => [drill, why])), 'long-sale': '' };
}

/** How many hold, such as `20 of 20 checks and 11 of 11 drills`: all that apply and are promised. */
function countsOf(holds: Finding[]): string {
  const kinds = { check: either('checks', '项检查'), drill: either('drills', '个演练') };
  const counts = Object.entries(kinds).flatMap(([kind, word]) => {
    const count = holds.filter((each) => each.kind === kind).length;
    return count > 0 ? [either(`${count} of ${count} ${word}`, `${count} ${word}全部通过`)] : [];
  });
  const ofScopes = either(`${holds.length} scopes of the model checker`, `${holds.length} 个检查范围全部成立`);
  return either(
    listSaid(counts.length > 0 ? counts : [ofScopes]),
    (counts.length > 0 ? counts : [ofScopes]).join('，'),
  );
}

const titles: Record<Answer['verdict'], Both> = {
  holds: ['breaks no promise', '信守了承诺'],
  broken: ['is broken', '有缺陷'],
  unknown: ['is not known', '结果未知'],
};

/** `my-lock is broken`, or how many locks were graded. */
export function gradeTitle(grades: Grade[]): string {
  const [grade, ...others] = grades;
  if (grade === undefined || others.length > 0)
    return either(`${grades.length} locks graded`, `检验了 ${grades.length} 把锁`);
  return `${grade.stage} ${inLanguage(titles[grade.answer?.verdict ?? 'unknown'])}`;
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
  if (rows.length === 0) return either('No built-in lock ran as a baseline.', '没有运行内置的锁作为基准。');
  const cells = expectedCells(rows);
  const asExpected = cells.filter(isAsExpected).length;
  const stagesSaid = listSaid(rows.map(({ stage }) => stage));
  const baseline = either(
    `Baseline: ${stagesSaid}, ${asExpected} of ${cells.length} cells as expected.`,
    `基准：${stagesSaid}，${cells.length} 个单元格中 ${asExpected} 个符合预期。`,
  );
  const warning = either(
    'Nothing can be concluded: a drill did not find what it must.',
    '不能得出结论：有演练没有发现它应该发现的问题。',
  );
  return sentencesSaid([baseline, asExpected === cells.length ? '' : warning]);
}
