import { expect, test } from 'vitest';
import { mostOf } from '../../../live/server/watched-votes.ts';

const vote = (owner: string, ttlMs: number) => ({ owner, ttlMs });
const none = {};

test.each([
  ['all of them', [vote('a', 3), vote('a', 5), vote('a', 4)], vote('a', 4)],
  ['a bare majority', [none, vote('a', 3), vote('a', 5)], vote('a', 3)],
  ['no majority, with one that is silent', [none, vote('a', 3), vote('b', 5)], undefined],
  ['three of five', [vote('a', 9), vote('b', 1), vote('b', 2), vote('a', 9), vote('b', 3)], vote('b', 1)],
])('what most masters say: %s', (_which, votes, most) => {
  expect(mostOf(votes)).toEqual(most);
});
