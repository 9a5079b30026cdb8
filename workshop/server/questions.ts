// The questions that a room votes on before a drill, each with three or four answers, in English and in Chinese.

import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { projectDir } from '../../stack/parts.ts';
import { answerSchema, isDecided, readAs, undecided } from '../exercises/exercise.ts';

const FULL_WIDTH = 'beside a Chinese character the punctuation is full-width';
/** A sentence that a room reads from the wall, in English and in Chinese. */
const sentence = (longest = 200) =>
  z.tuple([
    z.string().min(10).max(longest),
    z
      .string()
      .max(longest)
      .regex(/\p{Script=Han}/u, 'the second one is in Chinese')
      .regex(/^(?!.*(\p{Script=Han} ?[,.:;?!()]|[,.:;?!()] ?\p{Script=Han}))/u, FULL_WIDTH),
  ]);
/** A figure of the drill: what it is exactly, or its bounds. */
const figureSchema = z.union([z.number(), z.strictObject({ min: z.number().optional(), max: z.number().optional() })]);

const questionSchema = z.strictObject({
  drill: z.string(),
  question: sentence(),
  answers: z
    .array(
      answerSchema.extend({
        text: sentence(90),
        because: sentence().optional(),
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
  explains: sentence(),
});

export type Question = z.output<typeof questionSchema>;
/** The questions of each stage. */
export type Questions = Record<string, Question[]>;

/** Reads `workshop/questions/<stage>.json` for each stage. Throws with the name of a file that is not as it should be. */
export function readQuestions(): Questions {
  const dir = join(projectDir, 'workshop/questions');
  const questionsIn = (file: string) => readAs(z.array(questionSchema).min(1), join(dir, file));
  const files = readdirSync(dir).toSorted();
  return Object.fromEntries(files.map((file) => [basename(file, '.json'), questionsIn(file)]));
}
