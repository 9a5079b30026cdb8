// Reads the exercises: each is a folder with a broken lock and everything that belongs to it.

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

/** The result of a drill on real servers. */
export interface RealVerdict {
  drill: string;
  verdict: DrillResult['verdict'];
  /** The reasons, in sentences. */
  reason: string;
  /** The same as facts. */
  says: Reason[];
}

/** The folder of the exercises. */
export const exercisesDir = join(projectDir, 'workshop/exercises');
/** The folder that file names are relative to. The attendees' files are inside it. */
export const namedFrom = isInstalled ? process.cwd() : projectDir;
/** Such as `04-ttl`: two digits, then lower-case letters. */
const FOLDER = /^(\d\d)-[a-z0-9]+(-[a-z0-9]+)*$/;
const HINTS = ['## 1', '## 2', '## 3'];

const sentence = z.string().trim().min(1);
const scopeName = z.enum(scopes.map(({ name }) => name) as [string, ...string[]]);
const drillName = z.enum([...columnNames, ...exerciseDrillNames] as [string, ...string[]]);

const settingsSchema = z
  .strictObject({
    /** The stage that solves it, such as `4-ttl`. If none does, there is a `solution.ts`. */
    stage: z.enum(Object.keys(locks) as [string, ...string[]]).optional(),
    /** Where the bug was found, in one sentence, if it comes from real code. */
    source: sentence.optional(),
    /** The pages about its topic, relative to the project folder. */
    more: z.array(sentence).min(1),
    /** The file to change; `lock.ts` by default. */
    file: z
      .string()
      .regex(/^[a-z-]+\.ts$/)
      .optional(),
    /** Without it, only real servers judge. */
    search: z
      .strictObject({
        processes: z.int().min(1).max(3).default(2),
        /** How many sales each process runs. */
        sales: z.int().min(1).max(3).default(1),
        /** Each process runs its sales in parallel instead of one by one. */
        atOnce: z.boolean().default(false),
        /** All of these must hold. */
        scopes: z.array(scopeName).min(1),
      })
      .optional(),
    /** All of these must hold on real servers. */
    drills: z.array(drillName),
    /** What the unchanged lock fails: in the model checker, if the bug shows there. Other items above fail only because of the same bug. */
    fails: z.strictObject({
      scope: scopeName.optional(),
      drill: drillName.optional(),
      /** A part of the reported reason. */
      reason: sentence,
    }),
  })
  .refine(({ search, drills }) => search !== undefined || drills.length > 0, 'an exercise without scopes needs a drill')
  .refine(
    ({ search, drills, fails: { scope = '', drill = '' } }) =>
      [search?.scopes.includes(scope), drills.includes(drill)].filter(Boolean).length === 1,
    { path: ['fails'], message: 'it must be one of the scopes or one of the drills' },
  );

/** An answer to a question; a wrong answer says why it is wrong. */
export const answerSchema = z.strictObject({
  text: sentence,
  isRight: z.literal(true).optional(),
  because: sentence.optional(),
});

/** True if exactly one answer is right, and each of the others says why it is wrong. */
export const isDecided = (answers: { isRight?: true | undefined; because?: unknown }[]) =>
  answers.filter(({ isRight }) => isRight).length === 1 &&
  answers.every(({ isRight, because }) => (isRight === true) === (because === undefined));
export const undecided =
  'exactly one answer must be right, and each of the others must say why it is wrong, in "because"';

const predictionSchema = z.strictObject({
  /** About the unchanged lock. */
  question: sentence,
  answers: z.array(answerSchema).length(4).refine(isDecided, undecided),
  /** What happens and why: shown with the first verdict. */
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
  /** Three hints, each revealing more. */
  hints: string[];
  settings: ExerciseSettings;
  /** The attendee's copy of the original, to be changed; git ignores it. The absolute path. */
  file: string;
  /** The original, broken file, which stays unchanged. The absolute path. */
  original: string;
  /** The solved file, or the stage that solves it. The absolute path. */
  solution: string;
}

/** All exercises, in order. Throws like `readExercise`. */
export const readExercises = (folder = exercisesDir): Exercise[] =>
  readdirSync(folder)
    .filter((name) => FOLDER.test(name))
    .toSorted()
    .map((name) => readExercise(name, folder));

/** Copies the original if the attendee's file is missing. */
export function provideFile({ file, original }: Pick<Exercise, 'file' | 'original'>): void {
  if (!existsSync(file)) putBack({ file, original });
}

/** Replaces the attendee's file with a copy of the original. Its imports are adapted to the new place. */
export function putBack({ file, original }: Pick<Exercise, 'file' | 'original'>): void {
  const from = (path: string) => relative(dirname(file), resolve(dirname(original), path));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    read(original).replace(/ from '(\.[^']+)'/g, (_, path: string) => ` from '${from(path)}'`),
  );
}

/** The exercise of this name. Throws an error with a sentence that names the invalid file. The attendee's file may be missing. */
export function readExercise(name: string, folder = exercisesDir): Exercise {
  const place = (file: string) => join(folder, name, file);
  const settings = readAs(settingsSchema, place('exercise.json'));
  const { stage, file: fileName = 'lock.ts' } = settings;
  const original = place(fileName);
  const solution = stage === undefined ? place('solution.ts') : join(projectDir, `locks/${stage}.ts`);
  for (const file of [solution, original]) {
    if (!existsSync(file)) throw new Error(`${name} has no ${file.slice(folder.length + 1)}.`);
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

/** The content of a JSON file. Throws an error with its name if it is invalid. */
export function readAs<Schema extends z.ZodType>(schema: Schema, file: string): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(read(file)));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${file} is invalid: ${why}`, { cause: error });
  }
}

/** The texts under `## 1`, `## 2` and `## 3`. */
function hintsIn(text: string, name: string): string[] {
  const heads = text.split('\n').filter((line) => line.startsWith('## '));
  const hints = text
    .split(/^## .*$/m)
    .slice(1)
    .map((hint) => hint.trim());
  if (heads.join() !== HINTS.join() || hints.includes('')) {
    throw new Error(`${name}/hints.md must have a text under each of ${HINTS.join(', ')}, and no other heading.`);
  }
  return hints;
}
