// The exercises that the page can judge, in both languages.

import type { Language } from '../../../loadtest/narration/language.ts';
import type { ExerciseSettings, Prediction } from '../../exercises/exercise.ts';

/** The words of an exercise. */
interface Words {
  title: string;
  /** What is wrong and what to change. */
  text: string;
  hints: string[];
  prediction: Prediction;
  /** What the solution does, where its code does not say so in this language. */
  solution: string;
}

export interface PageExercise {
  /** Its folder, such as `05-owner-check`. */
  name: string;
  words: Record<Language, Words>;
  /** The stage that solves it, where one does. */
  stage?: string | undefined;
  /** The scenarios that must hold. */
  drills: string[];
  /** The scopes of the search in which it must hold, and how many sell. */
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

/** The exercise in which one writes a stage oneself: of several the first. */
export const exerciseOf = (files: Record<string, string>, stage: string): string | undefined =>
  exercisesIn(files).find((exercise) => exercise.stage === stage)?.name;

/** The file of a stage imports from where it lies, that of an exercise from its own folder. */
const ofStage = (text: string) => text.replaceAll("from './", "from '../../../locks/");

const sectionsOf = (text: string) => text.split(/^## .*$/m).map((section) => section.trim());

function taskOf(text: string) {
  const [title = '', ...task] = text.split('\n');
  return { title: title.slice(2), text: task.join('\n').trim() };
}

/** `zh-CN.md` has all in one: the task, three hints, the question with its answers, and what the solution does. A wrong answer has a second line. */
function chineseOf(page: string): Words {
  const [task = '', one = '', two = '', three = '', asked = '', solution = ''] = sectionsOf(page);
  const [question = '', ...paragraphs] = asked.split('\n\n');
  const answers = paragraphs.slice(0, -1).map((paragraph) => {
    const [text = '', because] = paragraph.split('\n');
    return because === undefined ? { text, isRight: true as const } : { text, because };
  });
  const explains = paragraphs.at(-1) ?? '';
  return { ...taskOf(task), hints: [one, two, three], prediction: { question, answers, explains }, solution };
}
