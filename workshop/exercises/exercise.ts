// What an exercise is: a folder with a lock that has a hole, and all that belongs to it. Reads them.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { DrillResult } from '../../loadtest/evidence/results.ts';
import { exerciseDrillNames } from '../../loadtest/staircase/exercises.ts';
import { columnNames } from '../../loadtest/staircase/lookup.ts';
import { locks } from '../../locks/index.ts';
import { scopes } from '../../prove/scopes.ts';
import { projectDir } from '../../stack/parts.ts';

/** What a drill said on real servers. */
export interface RealVerdict {
  drill: string;
  verdict: DrillResult['verdict'];
  /** Why, in sentences. */
  reason: string;
}

/** The folder of the exercises. */
export const exercisesDir = join(projectDir, 'workshop/exercises');
/** `04-ttl`: two digits, then small letters. */
const FOLDER = /^(\d\d)-[a-z0-9]+(-[a-z0-9]+)*$/;
/** The answers are chosen by these keys, in their order. */
export const ANSWER_KEYS = ['a', 'b', 'c', 'd'];
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

const answerSchema = z
  .strictObject({
    text: sentence,
    isRight: z.literal(true).optional(),
    /** Why it is wrong: of a wrong answer. */
    because: sentence.optional(),
  })
  .refine(({ isRight, because }) => isRight === true || because !== undefined, 'a wrong answer says why, in "because"');

const predictionSchema = z.strictObject({
  /** About the lock as it is before anybody has changed it. */
  question: sentence,
  answers: z
    .array(answerSchema)
    .length(ANSWER_KEYS.length)
    .refine((answers) => answers.filter(({ isRight }) => isRight).length === 1, 'one answer is right'),
  /** What happens, and why: shown with the first verdict. */
  explains: sentence,
});

export type ExerciseSettings = z.infer<typeof settingsSchema>;
export type Prediction = z.infer<typeof predictionSchema>;

export interface Exercise {
  /** Its folder, such as `04-ttl`. */
  name: string;
  number: number;
  /** The first line of its README. */
  title: string;
  /** Its README without the first line. */
  text: string;
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

/** A folder that is not as an exercise must be: the message is a sentence that names the file. */
export class ExerciseError extends Error {}

/** All exercises, in their order. Throws ExerciseError when one can't be read, or two have the same number. */
export function readExercises(folder = exercisesDir): Exercise[] {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && FOLDER.test(entry.name))
    .map(({ name }) => name);
  const exercises = names.toSorted().map((name) => readExercise(name, folder));
  for (const [at, { name, number }] of exercises.entries()) {
    const before = exercises[at - 1];
    if (before?.number === number) throw new ExerciseError(`${before.name} and ${name} have the same number.`);
  }
  return exercises;
}

/** Puts a copy of the original in the place of a file that is not there. */
export function provideFile({ file, original }: Pick<Exercise, 'file' | 'original'>): void {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(original, file);
}

/** The exercise of this name. Throws ExerciseError when it can't be read. What is to be changed need not be there. */
export function readExercise(name: string, folder = exercisesDir): Exercise {
  const number = Number(FOLDER.exec(name)?.[1]);
  if (Number.isNaN(number)) throw new ExerciseError(`${name} is no name of an exercise, such as 04-ttl.`);
  const place = (file: string) => join(folder, name, file);
  const [title = '', ...text] = read(place('README.md'), name).split('\n');
  if (!title.startsWith('# ')) throw new ExerciseError(`${name}/README.md must begin with "# " and a title.`);
  const settings = parse(settingsSchema, place('exercise.json'), name);
  const { stage } = settings;
  const solution = stage === undefined ? place('solution.ts') : join(projectDir, `locks/${stage}.ts`);
  const fileName = settings.file ?? 'lock.ts';
  const original = place(fileName);
  for (const file of [solution, original]) {
    if (!existsSync(file)) throw new ExerciseError(`${name} lacks its ${file.slice(folder.length + 1)}.`);
  }
  return {
    name,
    number,
    title: title.slice(2).trim(),
    text: text.join('\n').trim(),
    prediction: parse(predictionSchema, place('predict.json'), name),
    hints: hintsIn(read(place('hints.md'), name), name),
    settings,
    // As deep as the original, so that its imports lead to the same files.
    file: join(folder, '../mine', name, fileName),
    original,
    solution,
  };
}

/** The text of a file of the exercise. */
function read(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  } catch {
    throw new ExerciseError(`${name} lacks its ${file.slice(file.indexOf(name) + name.length + 1)}.`);
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, file: string, name: string): z.infer<Schema> {
  const shown = file.slice(file.indexOf(name));
  const text = read(file, name);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ExerciseError(`${shown} is no JSON: ${(error as Error).message}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ExerciseError(`${shown} can't be read: ${issue?.path.join('.') || 'it'}: ${issue?.message}.`);
}

/** The texts below `## 1`, `## 2` and `## 3`. */
function hintsIn(text: string, name: string): string[] {
  const heads = text.split('\n').filter((line) => line.startsWith('## '));
  const hints = text
    .split(/^## .*$/m)
    .slice(1)
    .map((hint) => hint.trim());
  if (heads.join() !== HINTS.join() || hints.includes('')) {
    throw new ExerciseError(
      `${name}/hints.md must have a text below each of ${HINTS.join(', ')}, and no other heading.`,
    );
  }
  return hints;
}
