// Looks at a file of an exercise by the search, in this process, and makes the files of attempts.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Cell, scopeFor } from '../../../prove/cell.ts';
import { projectDir } from '../../../stack/parts.ts';
import type { Exercise } from '../../../workshop/exercises/exercise.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { type Edit, editsIn, readBlocks } from '../../edits.ts';
import { mutate } from '../../mutations/mutation.ts';
import { scopeNamed, searchIn } from '../../prove/own-locks.ts';
import { solutionOf } from './own-exercises.ts';

const folder = join(projectDir, 'reports/attempts/exercises');

/** A wrong solution of an exercise that looks right, and what catches it. */
export interface Attempt {
  /** The exercise. */
  name: string;
  /** What it changes: the file of the exercise as it is, or its solution. */
  from: string;
  /** What is tried, as a clause: `looks twice`. */
  what: string;
  /** The scope of the exercise that catches it; the drill, where real servers judge alone. */
  fails: string;
  /** A part of the reason that is given. */
  reason: string;
  edits: Edit[];
}

/** All that are in attempts.txt. */
export function readAttempts(): Attempt[] {
  return readBlocks(join(import.meta.dirname, 'attempts.txt')).map(([head = '', caught = '', ...lines]) => {
    const [name = '', from = '', what = ''] = head.split(' · ');
    const [, fails = '', reason = ''] = /^([\w-]+)(?:: (.*))?$/.exec(caught) ?? [];
    return { name, from, what, fails, reason, edits: editsIn(lines) };
  });
}

/** What the search says of a file, in each scope of the exercise or in some of them. */
export async function lookAt({ settings }: Exercise, file: string, names = settings.search?.scopes ?? []) {
  const { processes = 2, sales = 1, atOnce = false } = settings.search ?? {};
  const cells: Pick<Cell, 'scope' | 'verdict' | 'reason' | 'cut'>[] = [];
  for (const name of names) {
    const scope = scopeFor(scopeNamed(name), { budget: {}, isAtOnce: atOnce });
    const size = { processes: Math.max(processes, scope.processes ?? 0), sales };
    const { verdict, reason, cut } = await searchIn(file, scope, size);
    cells.push({ scope: name, verdict, reason, cut });
  }
  return cells;
}

/**
 * A file of one's own, for as long as the test file runs. It stands three folders deep, as the file of an exercise does, so that its imports
 * lead to the same files.
 */
export function ownFile(name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${name}.ts`);
  writeFileSync(file, text);
  cleanUpLater(() => rmSync(file, { force: true }));
  return file;
}

let files = 0;

/** Writes the attempt into a file of its own. */
export function fileOfAttempt(exercise: Exercise, { from, edits }: Attempt): string {
  const { name, original: file } = exercise;
  expect(['lock', 'solution']).toContain(from);
  let text = from === 'lock' ? readFileSync(file, 'utf8') : solutionOf(exercise);
  for (const edit of edits) text = mutate(text, { file, ...edit });
  files += 1;
  return ownFile(`${name}-${files}`, text);
}
