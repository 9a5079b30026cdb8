// Judges the files of exercises as they are: by the search, and on real servers what the search can't tell.

import { relative } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Exercise } from './exercise.ts';
import type { RealJudge, RealVerdict } from './real-judge.ts';
import type { SearchJudge, SearchVerdict } from './search-judge.ts';
import { type ShownStep, shownSteps } from './steps.ts';
import { isToldBySearch, realLines, type Style, verdictLines } from './verdict-lines.ts';

export interface Checked {
  exercise: Exercise;
  isSolved: boolean;
  verdict?: SearchVerdict;
  /** The drills that were played. */
  real?: RealVerdict[];
}

export interface CheckOptions {
  search: SearchJudge;
  serversOf(exercise: Exercise): RealJudge;
  signal: AbortSignal;
}

/** Judges the exercises, one after the other. */
export async function checkAll(exercises: Exercise[], options: CheckOptions, onChecked: (checked: Checked) => void) {
  const checked: Checked[] = [];
  for (const exercise of exercises) {
    const one = await check(exercise, options);
    checked.push(one);
    onChecked(one);
  }
  return checked;
}

/** Judges the file of an exercise. Rejects with the reason of the signal when that aborts first. */
export async function check(exercise: Exercise, { search, serversOf, signal }: CheckOptions): Promise<Checked> {
  const { file, settings } = exercise;
  const verdict = settings.search && (await search.judge(exercise, file, { signal }));
  if (verdict && (verdict.kind !== 'holds' || isToldBySearch(exercise)))
    return { exercise, verdict, isSolved: verdict.kind === 'holds' };
  const ignore = () => {};
  const run = { file, signal, onDrill: ignore, onVerdict: ignore, narrate: ignore };
  const real = await serversOf(exercise).run(exercise, run);
  return {
    exercise,
    ...(verdict && { verdict }),
    real,
    isSolved: real.every(({ verdict }) => verdict === 'pass'),
  };
}

/** An exercise and what came of it, for a terminal. */
export function checkedLines({ exercise, verdict, real, isSolved }: Checked, style: Style): string[] {
  const { paint } = style;
  const { name, title, file } = exercise;
  const sign = isSolved ? paint.green('✔') : paint.red('✘');
  const head = `${sign} ${paint.bold(name)}  ${title}  ${paint.dim(relative(projectDir, file))}`;
  if (isSolved) return [head];
  const lines = real ? realLines(real, style) : verdict ? verdictLines(exercise, verdict, style) : [];
  return [head, '', ...lines.map((line) => `  ${line}`.trimEnd()), ''];
}

/** `--json`: what other programs read. */
export function asJson(checked: Checked[]) {
  return {
    format: 1,
    solved: checked.filter(({ isSolved }) => isSolved).length,
    exercises: checked.map(({ exercise, verdict, real, isSolved }) => ({
      name: exercise.name,
      number: exercise.number,
      title: exercise.title,
      track: exercise.settings.track,
      file: relative(projectDir, exercise.file),
      solved: isSolved,
      ...(verdict && { search: searchAsJson(verdict) }),
      ...(real && { drills: real.map(({ drill, verdict, reason }) => ({ drill, verdict, reason })) }),
    })),
  };
}

function searchAsJson({ kind, sentence, cells, failed }: SearchVerdict) {
  const counterexample: ShownStep[] | undefined = failed?.counterexample && shownSteps(failed);
  return {
    verdict: kind,
    says: sentence,
    scopes: cells.map(({ scope, verdict, reason, states, schedules }) => ({
      scope,
      verdict,
      reason,
      states,
      schedules,
    })),
    ...(failed && counterexample && { counterexample: { scope: failed.scope, steps: counterexample } }),
  };
}
