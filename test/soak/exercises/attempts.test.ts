import { expect, test } from 'vitest';
import { lookAtAttempt, searched } from '../../exercises/attempted.ts';

const all = await searched();
const attempts = all.flatMap(({ name, exercise, attempts }) =>
  attempts.slice(1).map((attempt) => ({ name, exercise, what: attempt.what, attempt })),
);

test.each(all)('$name: there are three wrong attempts at least that look right', ({ attempts }) => {
  expect(attempts.length).toBeGreaterThanOrEqual(3);
});

test.each(attempts)('$name: one that $what is caught by the search', lookAtAttempt);
