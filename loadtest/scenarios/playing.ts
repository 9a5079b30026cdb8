// Plays a page of sentences from its first line to its judgement.

import { NotStagedError } from '../evidence/not-staged.ts';
import type { Clock, Timer } from '../harness/clock.ts';
import { type Judgement, StuckError } from '../harness/play.ts';
import { because } from '../narration/reasons.ts';
import type { Ending, Finding, PageOf, Playing } from '../sentences/sentence.ts';

/** How long a drill may go on without a word, in milliseconds: none takes as long for its longest step. */
const SILENCE_LIMIT_MS = 180_000;

/** Plays the page. What fails goes no further. Throws NotStagedError when nothing may be concluded. */
export async function playPage<On extends Playing<Outcome>, Outcome>(
  page: PageOf<On, Outcome>,
  course: On,
): Promise<Judgement> {
  const findings: Finding[] = [];
  for (const { line, endsParagraph, act, demands } of page.steps) {
    if (act) await course.say(await inTime(course, act(course)), endsParagraph, line);
    if (demands.length > 0) findings.push(...(await inTime(course, judge<On, Outcome>(demands, course))));
    if (findings.some(isWrong)) break;
  }
  return conclude(page, findings, course);
}

/** Settles as the step does. Rejects when that takes too long: it waits for something that never comes. */
export function inTime<T>({ clock }: { clock: Clock }, step: Promise<T>): Promise<T> {
  let timer: Timer;
  const late = new Promise<never>((_, reject) => {
    const reason = because('no further', { ms: SILENCE_LIMIT_MS });
    timer = clock.startTimer(() => reject(new StuckError(reason, step)), SILENCE_LIMIT_MS);
  });
  return Promise.race([step, late]).finally(() => clock.stopTimer(timer));
}

const isWrong = ({ wrong }: Finding) => [wrong].flat().some(Boolean);

/** What comes of each demand. Throws NotStagedError when nothing may be concluded. */
async function judge<On extends Playing<Outcome>, Outcome>(
  demands: PageOf<On, Outcome>['steps'][number]['demands'],
  course: On,
): Promise<Finding[]> {
  const outcome = await course.outcome();
  for (const look of course.evidence) await look(outcome);
  const findings: Finding[] = [];
  for (const demand of demands) {
    try {
      findings.push(await demand(course, outcome));
    } catch (error) {
      // What is wrong already stays so.
      if (!(error instanceof NotStagedError) || !findings.some(isWrong)) throw error;
    }
  }
  return findings;
}

function conclude(
  { name: scenario, words }: Pick<PageOf<never, never>, 'name' | 'words'>,
  findings: Finding[],
  { ending = 'if it holds', figures = {} }: Pick<Playing<never>, 'ending' | 'figures'>,
): Judgement {
  const fails = findings.some(isWrong);
  const said = (on: Ending) => {
    const text = words[on];
    return text === undefined ? [] : [because('page', { scenario, ending: on, text })];
  };
  const says = fails
    ? [...findings.map(({ wrong }) => wrong), ...said(findings.find(({ ending }) => ending)?.ending ?? 'if it fails')]
    : [...findings.map(({ right }) => right), ...said(words[ending] === undefined ? 'if it holds' : ending)];
  const isJudged = findings.find((finding) => finding.isJudged)?.isJudged;
  return {
    verdict: fails ? 'fail' : 'pass',
    says: says.flatMap((each) => each || []),
    figures: largest([figures, ...findings.map(({ figures = {} }) => figures)]),
    evidence: findings.flatMap(({ evidence = [] }) => evidence),
    ...(isJudged && { isJudged }),
  };
}

/** The figures of several findings: of one that they share, the largest. */
function largest(all: Record<string, number>[]): Record<string, number> {
  const merged: Record<string, number> = {};
  for (const [name, value] of all.flatMap((figures) => Object.entries(figures))) {
    merged[name] = Math.max(value, merged[name] ?? Number.NEGATIVE_INFINITY);
  }
  return merged;
}
