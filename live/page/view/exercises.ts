// The exercises that the page can judge: those whose hole a scenario shows.

import type { ExerciseSettings, Prediction } from '../../../exercises/workshop/exercise.ts';

export interface PageExercise {
  /** Its folder, such as `05-owner-check`. */
  name: string;
  title: string;
  /** What is wrong and what to change. */
  text: string;
  hints: string[];
  prediction: Prediction;
  /** The scenarios that must hold. */
  drills: string[];
  /** The scopes of the search in which it must hold, and how many sell. */
  search: { scopes: string[]; processes?: number; sales?: number; atOnce?: boolean };
  original: string;
  solution: string;
}

export function exercisesIn(files: Record<string, string>): PageExercise[] {
  const names = Object.keys(files).flatMap((file) => /^exercises\/([^/]+)\/lock\.ts$/.exec(file)?.[1] ?? []);
  return names.toSorted().map((name) => {
    const read = (file: string) => files[`exercises/${name}/${file}`] ?? '';
    const [title = '', ...text] = read('README.md').split('\n');
    const { drills, search }: ExerciseSettings = JSON.parse(read('exercise.json'));
    return {
      name,
      title: title.slice(2),
      text: text.join('\n').trim(),
      hints: read('hints.md')
        .split(/^## \d$/m)
        .slice(1)
        .map((hint) => hint.trim()),
      prediction: JSON.parse(read('predict.json')),
      drills,
      search: search ?? { scopes: [] },
      original: read('lock.ts'),
      solution: read('solution.ts'),
    };
  });
}
