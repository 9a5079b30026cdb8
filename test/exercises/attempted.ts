// Looks at a file of an exercise by the search, in this process, and makes the files of attempts.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Exercise, readExercises } from '../../exercises/workshop/exercise.ts';
import { isRestless } from '../../exercises/workshop/restless.ts';
import { type Cell, proveCell } from '../../prove/cell.ts';
import { readLock } from '../../prove/sandbox.ts';
import { scopes as allScopes } from '../../prove/scopes.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { cleanUpLater } from '../clean-up.ts';
import type { Attempt } from './attempt.ts';

const folder = join(projectDir, 'reports/attempts');

/** The exercises that the search judges, each with the attempts that look right and are wrong. */
export function searched() {
  return Promise.all(
    readExercises()
      .filter(({ settings }) => settings.judge === 'search')
      .map(async (exercise) => ({ name: exercise.name, exercise, attempts: await attemptsOf(exercise.name) })),
  );
}

async function attemptsOf(name: string): Promise<Attempt[]> {
  const file = join(projectDir, 'test/exercises/attempts', `${name}.ts`);
  if (!existsSync(file)) return [];
  const { attempts }: { attempts: Attempt[] } = await import(file);
  return attempts;
}

/** The search must catch the attempt, in the scope and for the reason that it names. */
export async function lookAtAttempt({ exercise, attempt }: { exercise: Exercise; attempt: Attempt }) {
  const { fails, reason = '' } = attempt;
  expect(exercise.settings.search?.scopes).toContain(fails);

  const [found] = await lookAt(exercise, fileOfAttempt(exercise, attempt), [fails]);

  expect(found).toMatchObject({ scope: fails, verdict: 'fails', reason: expect.stringContaining(reason) });
}

/** What the search says of a file, in each scope of the exercise or in some of them. */
export async function lookAt({ settings }: Exercise, file: string, names = settings.search?.scopes ?? []) {
  const { processes = 2, sales = 1, atOnce = false } = settings.search ?? {};
  expect(await isRestless(await readLock(file), processes)).toBeUndefined();
  const cells: Pick<Cell, 'scope' | 'verdict' | 'reason' | 'cut'>[] = [];
  for (const scope of names) {
    const least = allScopes.find(({ name }) => name === scope)?.processes ?? 0;
    const size = { processes: Math.max(processes, least), sales, masters: 0, ...(atOnce && { isAtOnce: true }) };
    const rest = { budget: {}, isSplit: false, seconds: 120 };
    const { verdict, reason, cut } = await proveCell({ stage: 'lock.ts', file, scope, ...size, ...rest });
    cells.push({ scope, verdict, reason, cut });
  }
  return cells;
}

/**
 * A file of one's own, for as long as the test file runs. It stands two folders deep, as the file of an exercise does, so that its imports
 * lead to the same files; and not beside the originals, which others copy meanwhile.
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
export function fileOfAttempt({ name, original, solution }: Exercise, { from, replace }: Attempt): string {
  let text = readFileSync(from === 'lock' ? original : solution, 'utf8');
  for (const [find, by] of replace) {
    expect(text.split(find), find).toHaveLength(2);
    text = text.replace(find, () => by);
  }
  files += 1;
  return ownFile(`${name}-${files}`, text);
}
