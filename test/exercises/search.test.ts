import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readExercises } from '../../exercises/workshop/exercise.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Attempt } from './attempt.ts';
import { fileOfAttempt, lookAt } from './attempted.ts';

const exercises = readExercises().filter(({ settings }) => settings.judge === 'search');

async function attemptsOf(name: string): Promise<Attempt[]> {
  const file = join(projectDir, 'test/exercises/attempts', `${name}.ts`);
  if (!existsSync(file)) return [];
  const { attempts }: { attempts: Attempt[] } = await import(file);
  return attempts;
}

const all = await Promise.all(
  exercises.map(async (exercise) => ({ name: exercise.name, exercise, attempts: await attemptsOf(exercise.name) })),
);
const attempts = all.flatMap(({ name, exercise, attempts }) =>
  attempts.map((attempt, at) => ({ name, exercise, at, what: attempt.what, attempt })),
);

describe('exercises, judged by the search', () => {
  test.each(all)(
    '$name: before anybody changes it, it fails for the reason that it names, and for no other',
    async ({ exercise }) => {
      const { fails } = exercise.settings;

      for (const { scope, verdict, reason, cut } of await lookAt(exercise, exercise.original)) {
        expect({ scope, verdict, reason, cut }).toEqual(
          scope === fails.scope
            ? { scope, verdict: 'fails', reason: expect.stringContaining(fails.reason as string), cut: 0 }
            : { scope, verdict: 'holds', reason, cut: 0 },
        );
      }
    },
  );

  test.each(all)('$name: solved, it holds in every scope', async ({ exercise }) => {
    for (const { scope, verdict, reason, cut } of await lookAt(exercise, exercise.solution)) {
      expect({ scope, verdict, reason, cut }).toEqual({ scope, verdict: 'holds', reason, cut: 0 });
    }
  });

  test.each(all)('$name: there are three wrong attempts at least that look right', ({ attempts }) => {
    expect(attempts.length).toBeGreaterThanOrEqual(3);
  });

  test.each(attempts)('$name: one that $what is caught', async ({ exercise, at, attempt }) => {
    const { fails, reason = '' } = attempt;
    expect(exercise.settings.search?.scopes).toContain(fails);

    const [found] = await lookAt(exercise, fileOfAttempt(exercise, at, attempt), [fails]);

    expect(found).toMatchObject({ scope: fails, verdict: 'fails', reason: expect.stringContaining(reason) });
  });
});
