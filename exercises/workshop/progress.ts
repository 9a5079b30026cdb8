// What somebody has done so far, in a file that git ignores.

import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { projectDir } from '../../scripts/stack/parts.ts';

export const progressFile = join(projectDir, '.workshop.json');

const doneSchema = z.object({
  /** The place of the answer that was predicted, from 0. */
  chosen: z.int().min(0).max(3).optional(),
  /** A verdict has shown which answer is right. */
  isAnswered: z.boolean().default(false),
  /** How many hints were shown. */
  hints: z.int().min(0).max(3).default(0),
  isSolved: z.boolean().default(false),
});
const progressSchema = z.object({
  format: z.literal(1),
  /** The exercise that was shown last. */
  at: z.string().optional(),
  exercises: z.record(z.string(), doneSchema),
});

export type Done = z.infer<typeof doneSchema>;

export type Progress = ReturnType<typeof openProgress>;

/**
 * Reads the file. One that can't be read is kept under another name: `problem` says so, and all begins anew. `name` of an exercise is
 * its folder. Another process may change the file meanwhile, as a reset in another terminal does: it is read again when it has changed.
 */
export function openProgress(file = progressFile) {
  let { problem, ...progress } = read(file);
  let seen = stampOf(file);

  function now() {
    if (stampOf(file) !== seen) progress = read(file);
    seen = stampOf(file);
    return progress;
  }

  function write() {
    writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(progress, undefined, 2)}\n`);
    renameSync(`${file}.${process.pid}`, file);
    seen = stampOf(file);
  }

  return {
    problem,
    at: () => now().at,
    of: (name: string): Done => doneSchema.parse(now().exercises[name] ?? {}),
    change(name: string, change: Partial<Done>) {
      now().exercises[name] = { ...doneSchema.parse(progress.exercises[name] ?? {}), ...change };
      write();
    },
    goTo(name: string) {
      now().at = name;
      write();
    },
    forget(name: string) {
      delete now().exercises[name];
      write();
    },
  };
}

function read(file: string): z.infer<typeof progressSchema> & { problem?: string } {
  const empty = { format: 1 as const, exercises: {} };
  if (!existsSync(file)) return empty;
  try {
    return progressSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    const kept = freeName(file);
    renameSync(file, kept);
    return {
      ...empty,
      problem: `Your progress can't be read. It is kept in ${basename(kept)}, and a new one begins.`,
    };
  }
}

/** What differs after each write, which is a new file under the old name. */
function stampOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.mtimeMs}`;
}

/** A name beside the file that is not taken. */
function freeName(file: string): string {
  const name = (count: number) => file.replace(/\.json$/, `.broken${count === 1 ? '' : `-${count}`}.json`);
  let count = 1;
  while (existsSync(name(count))) count += 1;
  return name(count);
}
