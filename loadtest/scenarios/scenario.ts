// A scenario as a drill: its page is played on whatever target it is given, and judged by what was seen.

import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf } from '../evidence/numbers.ts';
import { sleep } from '../harness/clock.ts';
import { findRelease } from '../harness/release-commands.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import type { TestBed } from '../harness/test-bed.ts';
import { beginCourse, type Course } from './course.ts';
import type { Finding } from './demands.ts';
import type { Page } from './page.ts';

/** The scenario as a drill that goes step by step. */
export function asStepDrill(page: Page): StepDrill {
  const needs = [...new Set(page.steps.flatMap((step) => step.needs ?? []))];
  const timings = page.steps.flatMap((step) => step.timing ?? []);
  return {
    name: page.name,
    ...(needs.length > 0 && { needs }),
    ...(timings.length > 0 && { timing: Object.assign({}, ...timings) }),
    run: (testBed) =>
      page.steps.some((step) => step.playsEachRelease) ? playEachRelease(page, testBed) : play(page, testBed),
  };
}

/** Plays the page from its first line to its last, and judges what was seen. Throws NotStagedError when nothing may be concluded. */
async function play(page: Page, testBed: TestBed, release?: Course['release']): Promise<Judgement> {
  const course: Course = { ...beginCourse(testBed), ...(release && { release }) };
  for (const { line, act, isLong, timing, playsEachRelease, endsParagraph } of page.steps) {
    if (timing || playsEachRelease) continue;
    const sentence = line.replace(/^> /, '');
    if (isLong) await testBed.say(asSentence(sentence));
    const told = await act(course);
    const hasTold = typeof told === 'string';
    const seen = [...(isLong && hasTold ? [] : [sentence]), ...(hasTold ? [told] : [])].join(': ');
    if (endsParagraph) await testBed.step(asSentence(seen));
    else if (!isLong || hasTold) await testBed.say(asSentence(seen));
  }
  return judge(page, course);
}

/** With a capital letter, unless it begins with the name of a node, and a full stop. */
function asSentence(text: string): string {
  const begun = /^node-\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return begun.endsWith('.') ? begun : `${begun}.`;
}

async function judge({ demands, words }: Page, course: Course): Promise<Judgement> {
  const outcome = await course.testBed.outcome();
  for (const look of course.evidence) await look(outcome);
  const findings: Finding[] = [];
  const isWrong = () => findings.some(({ wrong }) => wrong !== undefined);
  for (const demand of demands) {
    try {
      findings.push(await demand(course, outcome));
    } catch (error) {
      // What is wrong already stays so.
      if (!(error instanceof NotStagedError) || !isWrong()) throw error;
    }
  }
  const held = course.isRefused
    ? words['if A is refused']
    : course.keptOutMs === undefined
      ? words['if it holds']
      : (words['if all waited'] ?? words['if it holds']);
  const said = isWrong()
    ? [...findings.map(({ wrong }) => wrong), words['if it fails']]
    : [...findings.map(({ right }) => right), held];
  const isJudged = findings.find((finding) => finding.isJudged)?.isJudged;
  return {
    verdict: isWrong() ? 'fail' : 'pass',
    reason: said
      .filter(Boolean)
      .map((each) => asSentence(each as string))
      .join(' '),
    figures: largest(findings.map(({ figures }) => figures)),
    witnesses: findings.flatMap(({ witnesses }) => witnesses),
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

/** Plays the page once for each command by which the lock is given up, until one fails. */
async function playEachRelease(page: Page, testBed: TestBed): Promise<Judgement> {
  const { commands, more, otherKey } = await findRelease(testBed);
  if (otherKey !== undefined) {
    const reason = `It keeps something under "${otherKey}": use the key that you are given, and begin the names of further keys with it.`;
    return { verdict: 'fail', reason, figures: { otherKeys: 1 }, witnesses: [] };
  }
  const isOneOfSeveral = commands.length > 1;
  let judged = notStaged('Its release sends no command with the key of the lock.', { nothingToBreak: true });
  for (const [round, { name, createMeant }] of commands.entries()) {
    // What the round before has left behind ends.
    if (round > 0) await sleep(Math.max(0, Math.min(testBed.leaseLeftMs(), 2 * testBed.leaseMs)));
    if (name !== undefined) await testBed.say(`This time its ${name} is held up.`);
    judged = await play(page, testBed, { isMeant: createMeant(), isOneOfSeveral });
    if (judged.verdict !== 'pass') return judged;
  }
  if (!isOneOfSeveral) return judged;
  const names = commands.map(({ name }) => name).join(', ');
  const left = more > 0 ? ` ${countOf(more, 'command')} after them were not held.` : '';
  return { ...judged, reason: `${judged.reason} Each command of the release was late once: ${names}.${left}` };
}
