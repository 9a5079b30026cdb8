// `reports/workshop.json`: where a workshop is. It is there while `npm run workshop` runs, and others may show it.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { projectDir } from '../../scripts/stack/parts.ts';

export const stateFile = join(projectDir, 'reports/workshop.json');

const text = z.string();

/** One step of a counterexample, as it is shown. */
export const shownStepSchema = z.object({
  /** In milliseconds of the search's clock. */
  at: z.number().min(0),
  /** `A`, `B`, …; `the server`. */
  process: text,
  /** What happened: `SET lock held NX → null`. */
  what: text,
  /** What came of it: `is inside`. */
  came: text.optional(),
  /** It happened so many times more, until this time. */
  again: z.object({ times: z.int().min(1), until: z.number().min(0) }).optional(),
});
export type ShownStep = z.infer<typeof shownStepSchema>;

export const workshopStateSchema = z.object({
  format: z.literal(1),
  /** The process of the workshop: when it is not there any more, the file is an old one. */
  pid: z.int(),
  updatedAt: z.iso.datetime(),
  exercise: z.object({
    /** Its folder, such as `04-ttl`. */
    name: text,
    number: z.int(),
    title: text,
    track: z.enum(['build', 'find']),
    /** What is to be changed, from the folder of the project. */
    file: text,
  }),
  /** How many exercises there are, and how many of them are solved. */
  count: z.int(),
  solved: z.int(),
  /** The question, and what was answered. Which answer is right stands here when it has been shown. */
  prediction: z.object({
    question: text,
    answers: z.array(text),
    /** The place of an answer, from 0. */
    chosen: z.int().optional(),
    right: z.int().optional(),
  }),
  /** `open`: nothing was judged yet. `judging`, `running`: the search, the drills on real servers. */
  phase: z.enum(['open', 'judging', 'running', 'judged']),
  /** The last verdict of the search. */
  verdict: z
    .object({
      at: z.iso.datetime(),
      kind: z.enum(['holds', 'fails', 'broken', 'unknown']),
      /** In a sentence. */
      says: text,
      scopes: z.array(z.object({ scope: text, says: text, verdict: z.enum(['holds', 'fails', 'unknown']) })),
      /** The shortest order of events that breaks the lock. */
      counterexample: z.object({ scope: text, reason: text, steps: z.array(shownStepSchema) }).optional(),
    })
    .optional(),
  /** The last run on real servers. */
  real: z
    .object({
      at: z.iso.datetime(),
      drills: z.array(
        z.object({ drill: text, verdict: z.enum(['pass', 'fail', 'unknown', 'not-applicable']), reason: text }),
      ),
    })
    .optional(),
  /** Solved now, by the file as it is. */
  isSolved: z.boolean(),
});
export type WorkshopState = z.infer<typeof workshopStateSchema>;

/** Writes the state: a reader finds the old one or the new one, and never a half. */
export function writeState(state: WorkshopState, file = stateFile) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(workshopStateSchema.parse(state), undefined, 2)}\n`);
  renameSync(`${file}.${process.pid}`, file);
}

/** The workshop has ended. The state of another one stays. */
export function removeState(file = stateFile) {
  if (readState(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** The state that stands in the file; undefined when there is none that can be read. */
export function readState(file = stateFile): WorkshopState | undefined {
  try {
    return workshopStateSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
