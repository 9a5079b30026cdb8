// The exercises that the page can judge, in both languages.

import type { Language } from '../../../loadtest/narration/language.ts';
import type { ExerciseSettings } from '../../exercises/exercise.ts';
import { chineseOf, sectionsOf, taskOf, type Words } from '../../exercises/task.ts';

export interface PageExercise {
  /** Its folder, such as `05-owner-check`. */
  name: string;
  words: Record<Language, Words>;
  /** The stage that solves it, if any. */
  stage?: string | undefined;
  /** The scenarios that must hold. */
  drills: string[];
  /** The fault models in which it must hold, and the number of processes. */
  search: { scopes: string[]; processes?: number; sales?: number; atOnce?: boolean };
  original: string;
  solution: string;
}

export function exercisesIn(files: Record<string, string>): PageExercise[] {
  const names = Object.keys(files).flatMap(
    (file) => /^workshop\/exercises\/([^/]+)\/exercise\.json$/.exec(file)?.[1] ?? [],
  );
  return names.toSorted().map((name) => {
    const read = (file: string) => files[`workshop/exercises/${name}/${file}`] ?? '';
    const { drills, search, stage }: ExerciseSettings = JSON.parse(read('exercise.json'));
    const [, ...hints] = sectionsOf(read('hints.md'));
    const en = { ...taskOf(read('README.md')), hints, prediction: JSON.parse(read('predict.json')), solution: '' };
    return {
      name,
      words: { en, zh: chineseOf(read('zh-CN.md')) },
      stage,
      drills,
      search: search ?? { scopes: [] },
      original: read('lock.ts'),
      solution: stage === undefined ? read('solution.ts') : ofStage(files[`locks/${stage}.ts`] ?? ''),
    };
  });
}

/** The exercise of a stage; the first if there are several. */
export const exerciseOf = (files: Record<string, string>, stage: string): string | undefined =>
  exercisesIn(files).find((exercise) => exercise.stage === stage)?.name;

/** A stage's file imports relative to its own place, an exercise's file relative to the exercise folder. */
const ofStage = (text: string) => text.replaceAll("from './", "from '../../../locks/");
