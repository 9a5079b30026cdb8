// What an exercise is: a folder with a lock that has a hole, and all that belongs to it. Reads them.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { DrillResult } from '../../loadtest/evidence/results.ts';
import type { Reason } from '../../loadtest/narration/reasons.ts';
import { exerciseDrillNames } from '../../loadtest/staircase/exercises.ts';
import { columnNames } from '../../loadtest/staircase/lookup.ts';
import { locks } from '../../locks/index.ts';
import { scopes } from '../../prove/scopes.ts';
import { isInstalled, projectDir } from '../../stack/parts.ts';
import { chineseOf, type Prediction, type Task, taskOf } from './task.ts';

/** What a drill said on real servers. */
export interface RealVerdict {
  drill: string;
  verdict: DrillResult['verdict'];
  /** Why, in sentences. */
  reason: string;
  /** The same as facts. */
  says: Reason[];
}

/** The folder of the exercises. */
export const exercisesDir = join(projectDir, 'workshop/exercises');
/** The folder from which files are named. What an attendee changes is below it. */
export const namedFrom = isInstalled ? process.cwd() : projectDir;
/** `04-ttl`: two digits, then small letters. */
const FOLDER = /^(\d\d)-[a-z0-9]+(-[a-z0-9]+)*$/;
const HINTS = ['## 1', '## 2', '## 3'];

const sentence = z.string().trim().min(1);
const scopeName = z.enum(scopes.map(({ name }) => name) as [string, ...string[]]);
const drillName = z.enum([...columnNames, ...exerciseDrillNames] as [string, ...string[]]);

const settingsSchema = z
  .strictObject({
    /** The stage that solves it, such as `4-ttl`. Where none does, there is a `solution.ts`. */
    stage: z.enum(Object.keys(locks) as [string, ...string[]]).optional(),
    /** Where the bug is from, in one sentence, where one finds it. */
    source: sentence.optional(),
    /** The pages about what it is about, from the folder of the project. */
    more: z.array(sentence).min(1),
    /** What is to be changed, where it is no lock; `lock.ts` when it is not given. */
    file: z
      .string()
      .regex(/^[a-z-]+\.ts$/)
      .optional(),
    /** Where there is none, real servers judge alone. */
    search: z
      .strictObject({
        processes: z.int().min(1).max(3).default(2),
        /** How many sales each process makes. */
        sales: z.int().min(1).max(3).default(1),
        /** Each process makes its sales at the same time, and not one after the other. */
        atOnce: z.boolean().default(false),
        /** All of these must hold. */
        scopes: z.array(scopeName).min(1),
      })
      .optional(),
    /** All of these must hold on real servers. */
    drills: z.array(drillName),
    /** What the lock fails before anybody has changed it: in the search, if it shows there. Others above fail only by the same bug. */
    fails: z.strictObject({
      scope: scopeName.optional(),
      drill: drillName.optional(),
      /** A part of the reason that is given. */
      reason: sentence,
    }),
  })
  .refine(({ search, drills }) => search !== undefined || drills.length > 0, 'what has no search has a drill')
  .refine(
    ({ search, drills, fails: { scope = '', drill = '' } }) =>
      [search?.scopes.includes(scope), drills.includes(drill)].filter(Boolean).length === 1,
    { path: ['fails'], message: 'it is one of the scopes, or one of the drills' },
  );

/** One of the answers to a question: a wrong one says why it is wrong. */
export const answerSchema = z.strictObject({
  text: sentence,
  isRight: z.literal(true).optional(),
  because: sentence.optional(),
});

/** Whether one answer is right, and each of the others says why it is not. */
export const isDecided = (answers: { isRight?: true | undefined; because?: unknown }[]) =>
  answers.filter(({ isRight }) => isRight).length === 1 &&
  answers.every(({ isRight, because }) => (isRight === true) === (because === undefined));
export const undecided = 'one answer is right, and each of the others says why it is wrong, in "because"';

const predictionSchema = z.strictObject({
  /** About the lock as it is before anybody has changed it. */
  question: sentence,
  answers: z.array(answerSchema).length(4).refine(isDecided, undecided),
  /** What happens, and why: shown with the first verdict. */
  explains: sentence,
});

export type ExerciseSettings = z.infer<typeof settingsSchema>;

export interface Exercise {
  /** Its folder, such as `04-ttl`. */
  name: string;
  number: number;
  /** The first line of its README. */
  title: string;
  /** Its README without the first line. */
  text: string;
  /** The same in Chinese, where there is a `zh-CN.md`. */
  chinese: Task | undefined;
  prediction: Prediction;
  /** Three, each says more than the one before. */
  hints: string[];
  settings: ExerciseSettings;
  /** The attendee's own copy of the original, which git ignores: what is to be changed. The absolute path. */
  file: string;
  /** The file with the hole. Nobody changes it. The absolute path. */
  original: string;
  /** That file, solved, or the stage that solves it. The absolute path. */
  solution: string;
}

/** All exercises, in their order. Throws as `readExercise`. */
export const readExercises = (folder = exercisesDir): Exercise[] =>
  readdirSync(folder)
    .filter((name) => FOLDER.test(name))
    .toSorted()
    .map((name) => readExercise(name, folder));

/** Puts a copy of the original in the place of a file that is not there. */
export function provideFile({ file, original }: Pick<Exercise, 'file' | 'original'>): void {
  if (!existsSync(file)) putBack({ file, original });
}

/** Puts a copy of the original in the place of a file. Its imports lead to the same files. */
export function putBack({ file, original }: Pick<Exercise, 'file' | 'original'>): void {
  const from = (path: string) => relative(dirname(file), resolve(dirname(original), path));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    read(original).replace(/ from '(\.[^']+)'/g, (_, path: string) => ` from '${from(path)}'`),
  );
}

/** The exercise of this name. Throws a sentence that names the file which is not as it must be. What is to be changed need not be there. */
export function readExercise(name: string, folder = exercisesDir): Exercise {
  const place = (file: string) => join(folder, name, file);
  const settings = readAs(settingsSchema, place('exercise.json'));
  const { stage, file: fileName = 'lock.ts' } = settings;
  const original = place(fileName);
  const solution = stage === undefined ? place('solution.ts') : join(projectDir, `locks/${stage}.ts`);
  for (const file of [solution, original]) {
    if (!existsSync(file)) throw new Error(`${name} lacks its ${file.slice(folder.length + 1)}.`);
  }
  const readme = read(place('README.md'));
  if (!readme.startsWith('# ')) throw new Error(`${name}/README.md must start with "# " and a title.`);
  return {
    name,
    number: Number(FOLDER.exec(name)?.[1]),
    ...taskOf(readme),
    chinese: existsSync(place('zh-CN.md')) ? chineseOf(read(place('zh-CN.md'))) : undefined,
    prediction: readAs(predictionSchema, place('predict.json')),
    hints: hintsIn(read(place('hints.md')), name),
    settings,
    file: join(isInstalled ? namedFrom : dirname(folder), 'mine', name, fileName),
    original,
    solution,
  };
}

const read = (file: string) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n');

/** What a file of JSON has. Throws with its name when that is not as it should be. */
export function readAs<Schema extends z.ZodType>(schema: Schema, file: string): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(read(file)));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${file} is not as it should be: ${why}`, { cause: error });
  }
}

/** The texts below `## 1`, `## 2` and `## 3`. */
function hintsIn(text: string, name: string): string[] {
  const heads = text.split('\n').filter((line) => line.startsWith('## '));
  const hints = text
    .split(/^## .*$/m)
    .slice(1)
    .map((hint) => hint.trim());
  if (heads.join() !== HINTS.join() || hints.includes('')) {
    throw new Error(`${name}/hints.md must have a text below each of ${HINTS.join(', ')}, and no other heading.`);
  }
  return hints;
}
