// npm run workshop -- check: judges the files as they are, without a terminal.

import { relative } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Exercise } from './exercise.ts';
import type { RealJudge, RealVerdict } from './real-judge.ts';
import type { SearchJudge, SearchVerdict } from './search-judge.ts';
import type { ShownStep } from './state.ts';
import { shownSteps } from './steps.ts';
import type { TypeErrors } from './type-errors.ts';
import { isToldBySearch, realLines, type Style, typeErrorLines, verdictLines } from './verdict-lines.ts';

export interface Checked {
  exercise: Exercise;
  isSolved: boolean;
  verdict?: SearchVerdict;
  /** The drills that were played. */
  real?: RealVerdict[];
  /** What TypeScript says of the file: it decides nothing. */
  typeError?: string;
}

export interface CheckOptions {
  search: SearchJudge;
  serversOf(exercise: Exercise): RealJudge;
  /** Plays the drills of every exercise that the search holds for, and not only where the search can't tell. */
  hasDrills: boolean;
  /** Asks TypeScript; nobody is asked when it is not given. */
  typeErrors?: TypeErrors;
  signal: AbortSignal;
  onChecked(checked: Checked): void;
}

/** Judges the exercises, one after the other. */
export async function checkAll(exercises: Exercise[], options: CheckOptions): Promise<Checked[]> {
  const checked: Checked[] = [];
  const asked = options.typeErrors?.(
    exercises.map(({ file }) => file),
    options.signal,
  );
  for (const exercise of exercises) {
    const judged = await check(exercise, options);
    const typeError = (await asked)?.get(exercise.file);
    const one = { ...judged, ...(typeError && { typeError }) };
    checked.push(one);
    options.onChecked(one);
  }
  return checked;
}

async function check(exercise: Exercise, { search, serversOf, hasDrills, signal }: CheckOptions): Promise<Checked> {
  const { file, settings } = exercise;
  const verdict = settings.search && (await search.judge(exercise, file, { signal }));
  if (verdict && verdict.kind !== 'holds') return { exercise, verdict, isSolved: false };
  const isTold = isToldBySearch(exercise);
  if (settings.drills.length === 0 || (isTold && !hasDrills))
    return { exercise, ...(verdict && { verdict }), isSolved: true };
  const ignore = () => {};
  const run = { file, signal, onDrill: ignore, onVerdict: ignore, narrate: ignore };
  const real = await serversOf(exercise).run(exercise, run);
  return {
    exercise,
    ...(verdict && { verdict }),
    real,
    isSolved: real.every(({ verdict }) => verdict === 'pass' || (isTold && verdict === 'not-applicable')),
  };
}

/** An exercise and what came of it, for a terminal. */
export function checkedLines({ exercise, verdict, real, isSolved, typeError }: Checked, style: Style): string[] {
  const { paint } = style;
  const { name, title, file } = exercise;
  const sign = isSolved ? paint.green('✔') : paint.red('✘');
  const head = `${sign} ${paint.bold(name)}  ${title}  ${paint.dim(relative(projectDir, file))}`;
  const further = typeError === undefined ? [] : typeErrorLines(typeError, style);
  if (isSolved) return [head, ...further.map((line) => `  ${line}`)];
  const judged = real ? realLines(real, style) : verdict ? verdictLines(exercise, verdict, style) : [];
  const lines = further.length === 0 ? judged : [...judged, '', ...further];
  return [head, '', ...lines.map((line) => `  ${line}`.trimEnd()), ''];
}

/** `--json`: what other programs read. */
export function asJson(checked: Checked[]) {
  return {
    format: 1,
    solved: checked.filter(({ isSolved }) => isSolved).length,
    exercises: checked.map(({ exercise, verdict, real, isSolved, typeError }) => ({
      name: exercise.name,
      number: exercise.number,
      title: exercise.title,
      track: exercise.settings.track,
      file: relative(projectDir, exercise.file),
      solved: isSolved,
      ...(verdict && { search: searchAsJson(verdict) }),
      ...(typeError && { typeError }),
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
