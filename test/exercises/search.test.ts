import { describe, expect, test } from 'vitest';
import { lookAt, lookAtAttempt, searched } from './attempted.ts';

const all = await searched();
/** The first of each exercise; the others are tried in test/soak/exercises/attempts.test.ts. */
const attempts = all.flatMap(({ name, exercise, attempts }) =>
  attempts.slice(0, 1).map((attempt) => ({ name, exercise, what: attempt.what, attempt })),
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

  test.each(attempts)('$name: one that $what is caught', lookAtAttempt);
});
