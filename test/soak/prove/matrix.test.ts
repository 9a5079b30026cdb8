// The cells of the matrix that take more than a second: test/prove/matrix has the others.

import { expect, test } from 'vitest';
import { readExercise } from '../../../exercises/workshop/exercise.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { knownBugs, promisesOf } from '../../known-bugs/bugs.ts';
import { type LockToGrade, writeKnownBug } from '../../known-bugs/known-bug.ts';
import { fileOf, searchIn } from '../../prove/own-locks.ts';

test.each([
  ['8-auto-renew', 'zombie-renewal'],
  ['buckets', 'slow-holder'],
  ['buckets', 'paused-process'],
  ['buckets', 'put-back'],
  ['cohort', 'slow-holder'],
  ['combine', 'paused-process'],
  ['fair', 'client-gone'],
])('%s, %s: it holds', async (stage, scope) => {
  const size = { sales: stage === 'combine' ? 2 : 1, isInBuckets: stage === 'buckets' };

  expect(await searchIn(fileOf(stage), scope, size)).toMatchObject({ verdict: 'holds', cut: 0 });
});

test('exercise 22: zombie-renewal finds what it names, and solved it holds', async () => {
  const { original, solution, settings } = readExercise('22-the-long-standstill');
  const [before, solved] = [await searchIn(original, 'zombie-renewal'), await searchIn(solution, 'zombie-renewal')];

  expect([before.verdict, solved.verdict, solved.cut]).toEqual(['fails', 'holds', 0]);
  expect(before.reason).toContain(settings.fails.reason);
});

test.each(['renews-any-holder', 'looks-then-renews'])('%s: zombie-renewal finds it', async (name) => {
  const { dir, remove } = makeTempDir();
  cleanUpLater(remove);
  const bug = knownBugs.find((each) => each.name === name) as LockToGrade;

  expect(await searchIn(writeKnownBug(bug, promisesOf(bug), dir), 'zombie-renewal')).toMatchObject({
    verdict: 'fails',
  });
});
