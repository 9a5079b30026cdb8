// Plays a page from its first line to its last, and judges what was seen where it says so.

import { NotStagedError } from '../evidence/not-staged.ts';
import type { Judgement } from '../harness/play.ts';
import type { Ending, Finding, PageOf } from './sentence.ts';

/** What a page is played on. */
export interface Playing<Outcome> {
  testBed: {
    /** Narrates what happens, and goes on at once. */
    say(sentence: string): Promise<void>;
    /** Narrates a step, and waits for the audience: nothing that comes next may depend on how long that takes. */
    step(sentence: string): Promise<void>;
    /** Waits until all has ended, and resolves with what is left. Throws NotStagedError when something never ends. */
    outcome(): Promise<Outcome>;
  };
  /** What must be seen in the history: each throws NotStagedError when it was not, and then nothing may be concluded. */
  evidence: ((outcome: Outcome) => void | Promise<void>)[];
  /** What is said of what holds for another reason than most. */
  ending?: Ending;
}

/** Plays the page. What fails goes no further. Throws NotStagedError when nothing may be concluded. */
export async function playPage<On extends Playing<Outcome>, Outcome>(
  page: PageOf<On, Outcome>,
  course: On,
): Promise<Judgement> {
  const findings: Finding[] = [];
  for (const step of page.steps) {
    if (!step.isSetting) await take(step, course.testBed, () => step.act(course));
    if (step.demands.length > 0) findings.push(...(await judge(step.demands, course)));
    if (findings.some(isWrong)) break;
  }
  return conclude(page.words, findings, course.ending);
}

async function take(
  { line, isLong, endsParagraph }: Pick<PageOf<never, never>['steps'][number], 'line' | 'isLong' | 'endsParagraph'>,
  testBed: Pick<Playing<unknown>['testBed'], 'say' | 'step'>,
  act: () => Promise<unknown>,
) {
  const sentence = line.replace(/^> /, '');
  if (isLong) await testBed.say(asSentence(sentence));
  const told = await act();
  const hasTold = typeof told === 'string';
  const seen = [...(isLong && hasTold ? [] : [sentence]), ...(hasTold ? [told] : [])].join(': ');
  if (endsParagraph) await testBed.step(asSentence(seen));
  else if (!isLong || hasTold) await testBed.say(asSentence(seen));
}

/** With a capital letter, unless it begins with the name of a node, and a full stop. */
function asSentence(text: string): string {
  const begun = /^node-\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return begun.endsWith('.') ? begun : `${begun}.`;
}

const isWrong = ({ wrong }: Finding) => wrong !== undefined;

/** What comes of each demand. Throws NotStagedError when nothing may be concluded. */
async function judge<On extends Playing<Outcome>, Outcome>(
  demands: PageOf<On, Outcome>['steps'][number]['demands'],
  course: On,
): Promise<Finding[]> {
  const outcome = await course.testBed.outcome();
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
  words: PageOf<never, never>['words'],
  findings: Finding[],
  ending: Ending = 'if it holds',
): Judgement {
  const fails = findings.some(isWrong);
  const said = fails
    ? [...findings.map(({ wrong }) => wrong), words[findings.find(({ ending }) => ending)?.ending ?? 'if it fails']]
    : [...findings.map(({ right }) => right), words[ending] ?? words['if it holds']];
  const isJudged = findings.find((finding) => finding.isJudged)?.isJudged;
  return {
    verdict: fails ? 'fail' : 'pass',
    reason: said
      .filter(Boolean)
      .map((each) => asSentence(each as string))
      .join(' '),
    figures: largest(findings.map(({ figures = {} }) => figures)),
    witnesses: findings.flatMap(({ witnesses = [] }) => witnesses),
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
