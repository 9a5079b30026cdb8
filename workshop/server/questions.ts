// What is asked before a drill: questions with three or four answers, kept beside the chapters of the stages.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectDir } from '../../stack/parts.ts';
import { answerSchema, isDecided, readAs, undecided } from '../exercises/exercise.ts';

/** `<stage>.predict.json` beside `<stage>.md`. */
const END = '.predict.json';

/** A sentence that a room reads from the wall. */
const sentence = z.string().min(10).max(200);
/** A figure of the drill: what it is exactly, or its bounds. */
const figureSchema = z.union([z.number(), z.strictObject({ min: z.number().optional(), max: z.number().optional() })]);

const questionSchema = z.strictObject({
  drill: z.string(),
  question: sentence,
  answers: z
    .array(
      answerSchema.extend({
        text: sentence.max(90),
        /** How the drill comes out if this is so. */
        verdict: z.enum(['pass', 'fail']),
        /** What it says in figures, by the names that they have in `results.json`. */
        figures: z.record(z.string(), figureSchema).optional(),
      }),
    )
    .min(3)
    .max(4)
    .refine(isDecided, undecided),
  /** Why the right answer is right. */
  explains: sentence,
});

export type Question = z.output<typeof questionSchema>;
/** The questions of each stage. */
export type Questions = Record<string, Question[]>;

/** Reads the questions of all stages. Throws with the name of a file that is not as it should be. */
export function readQuestions(): Questions {
  const dir = join(projectDir, 'docs/stages');
  const files = readdirSync(dir).filter((file) => file.endsWith(END));
  const questionsIn = (file: string) => readAs(z.array(questionSchema).min(1), join(dir, file));
  return Object.fromEntries(files.toSorted().map((file) => [file.slice(0, -END.length), questionsIn(file)]));
}
