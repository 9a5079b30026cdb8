import { expect, test } from 'vitest';
import { candidatesOf, type Judged, judgeMutants } from '../../mutations/generated/judge-mutants.ts';

test('mutants: each of the small locks is caught, and the scene shows that it is wrong', async () => {
  const all: Judged[] = [];
  await judgeMutants(
    candidatesOf(['6-lua-release', '7-reentrant'], Number.POSITIVE_INFINITY, 1),
    new AbortController().signal,
    (judged) => void all.push(judged),
  );
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter(({ is }) => is !== 'caught')).toEqual([]);
});
