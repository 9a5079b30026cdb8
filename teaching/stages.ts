// What slides and the page to print say of each stage: its story, its change as a diff, its questions, and the commands that show it.

import type { StageChoice } from '../live/contract.ts';
import { type Question, readQuestions } from '../live/questions.ts';
import { stageChoices } from '../live/server/choices.ts';
import { fixes } from '../loadtest/staircase/plan.ts';
import { locks, numberOf } from '../locks/index.ts';

/** The lines that open a stage's file, in a diff. */
const STORY = /^[-+ ]\/\/ (Stage|Problem|Change|Leaves)\b/;
/** How many lines that stay the same are shown before and after those that change. */
const CONTEXT = 2;
/** Stands for the lines that are left out. */
export const LEFT_OUT = '⋯';

export interface StageFacts extends Pick<StageChoice, 'name' | 'title' | 'problem' | 'change' | 'leaves'> {
  number: number;
  /** What changes in the code, each line after a `+`, a `-` or a blank; none for stage 0. */
  diff: string[];
  /** The drills that the stage before fails and this one holds. */
  fixed: string[];
  /** The drills that it fails, as expected. */
  failed: string[];
  /** The drill that shows best what it leaves broken. */
  left: string;
  questions: Question[];
  /** The commands that show what it fixes, and what it leaves. */
  commands: string[];
}

/** The stages 0 to 8, in their order. */
export function stageFacts(): StageFacts[] {
  const questions = readQuestions();
  const choices = stageChoices().filter(({ name }) => Object.hasOwn(locks, name));
  return choices.map(({ name, title, problem, change, leaves, diff = [], drills }, place) => {
    const fixed = drills.filter((drill) => fixes(name, drill.name));
    const after = choices[place + 1]?.name;
    const failed = drills.filter(({ taught }) => taught === 'fail');
    const left = failed.find((drill) => after !== undefined && fixes(after, drill.name)) ?? failed.find(isOfTheEnd);
    if (left === undefined) throw new Error(`${name} fails no drill that shows what it leaves.`);
    const [first] = fixed;
    const number = numberOf(name) ?? 0;
    return {
      ...{ name, number, title, problem, change, leaves },
      diff: changesIn(diff),
      fixed: fixed.map((drill) => drill.name),
      failed: failed.map((drill) => drill.name),
      left: left.name,
      questions: questions[name] ?? [],
      commands: [...(first ? [commandFor(first, [number - 1, number])] : []), commandFor(left, [number])],
    };
  });
}

/** The stories are told in half sentences; alone in a cell or on a slide they are whole ones. */
export const capital = (sentence: string) => `${sentence[0]?.toUpperCase() ?? ''}${sentence.slice(1)}`;

type ShownDrill = StageChoice['drills'][number];

/** Of what no stage mends, the drill that tells what the last one leaves. */
const isOfTheEnd = ({ name }: ShownDrill) => name === 'paused-process';

/** A drill under load needs a stack of its own kind, and has no steps to tell. */
function commandFor({ name, kind }: ShownDrill, stages: number[]): string {
  if (kind === 'load') return `npm start -- --stage ${stages.join(',')} --drill ${name}`;
  return `npm run drill -- ${name} --stage ${stages.join(',')}`;
}

/** The lines that change, and a few around them: what is left out between them is one line. */
export function changesIn(lines: string[]): string[] {
  const code = lines.filter((line) => !STORY.test(line));
  const isNear = (at: number) =>
    code.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => /^[-+]/.test(line));
  const shown: string[] = [];
  for (const [at, line] of code.entries()) {
    if (isNear(at)) shown.push(line);
    else if (shown.at(-1) !== LEFT_OUT) shown.push(LEFT_OUT);
  }
  // Empty lines at the ends say nothing.
  while (shown.length > 0 && [LEFT_OUT, ' '].includes(shown[0] ?? '')) shown.shift();
  while (shown.length > 0 && [LEFT_OUT, ' '].includes(shown.at(-1) ?? '')) shown.pop();
  return shown;
}
