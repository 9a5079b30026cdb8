// The cells of the matrix that take long: test/prove/matrix has the others.

import { expect, test } from 'vitest';
import { makeTempDir } from '../../../stack/parts.ts';
import { readExercises } from '../../../workshop/exercises/exercise.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { knownBugs, promisesOf } from '../../known-bugs/bugs.ts';
import { type LockToGrade, writeKnownBug } from '../../known-bugs/known-bug.ts';
import { fileOf, searchIn } from '../../prove/own-locks.ts';
import { lookAt } from '../../workshop/exercises/attempted.ts';

test.each([
  ['7-reentrant', 'slow-holder'],
  ['8-auto-renew', 'slow-holder'],
  ['8-auto-renew', 'zombie-renewal'],
  ['fenced', 'slow-holder'],
  ['buckets', 'slow-holder'],
  ['buckets', 'paused-process'],
  ['buckets', 'crossed-write'],
  ['buckets', 'put-back'],
  ['blocking', 'client-gone'],
  ['cohort', 'slow-holder'],
  ['cohort', 'client-gone'],
  ['combine', 'slow-holder'],
  ['combine', 'paused-process'],
  ['combine', 'crossed-write'],
  ['combine', 'client-gone'],
  ['fair', 'plain'],
  ['fair', 'client-gone'],
])('%s, %s: it holds', async (stage, scope) => {
  const size = { sales: stage === 'combine' ? 2 : 1, isInBuckets: stage === 'buckets' };

  expect(await searchIn(fileOf(stage), scope, size)).toMatchObject({ verdict: 'holds', cut: 0 });
});

const exercises = readExercises().filter(({ settings }) => settings.search !== undefined);

test.each(exercises)('$name: solved, it holds in every scope', async (exercise) => {
  const cells = await lookAt(exercise, exercise.solution);

  expect(cells.filter(({ verdict, cut }) => verdict !== 'holds' || cut > 0)).toEqual([]);
});

test.each(['renews-any-holder', 'looks-then-renews'])('%s: zombie-renewal finds it', async (name) => {
  const { dir, remove } = makeTempDir();
  cleanUpLater(remove);
  const bug = knownBugs.find((each) => each.name === name) as LockToGrade;

  expect(await searchIn(writeKnownBug(bug, promisesOf(bug), dir), 'zombie-renewal')).toMatchObject({
    verdict: 'fails',
  });
});
