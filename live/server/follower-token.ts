// The token of the followers: short enough to type from the wall, and hopeless to guess.

import { createHash, randomInt, timingSafeEqual } from 'node:crypto';

/** No 0 and o, no 1, i and l: read from the wall, one is taken for another. */
const LETTERS = '23456789abcdefghjkmnpqrstuvwxyz';
const GROUPS = 3;
const GROUP = 3;

/*
 * 9 of 31 letters are 31⁹ = 2.6 · 10¹³ tokens, or 44.6 bits. At 20 wrong ones a second half of them take 2.6 · 10¹³ / 2 / 20 s,
 * which is 21,000 years; in a workshop of three hours the chance of a hit is 20 · 10,800 / 2.6 · 10¹³, one in 120 million.
 */
const WRONG_PER_SECOND = 20;
/** How many wrong tokens are remembered. A tab that is left from yesterday shows the same one again and again. */
const REMEMBERED = 100;

/** A new token, in groups that can be read aloud: `k3v-92m-fxp`. */
export function makeFollowerToken(): string {
  const group = () => Array.from({ length: GROUP }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** `right` and `wrong` are compared. `later`: so many wrong ones were shown that this one was not even looked at. */
export type TokenAnswer = 'right' | 'wrong' | 'later';

/**
 * Looks at the tokens that are shown. One that was wrong before is no new guess, and counts no more. `now` is in milliseconds.
 */
export function createTokenGate(token: string, now: () => number = () => performance.now()) {
  const right = digestOf(token);
  const wrong = new Set<string>();
  let left = WRONG_PER_SECOND;
  let filledAt = now();

  function fill() {
    const at = now();
    left = Math.min(WRONG_PER_SECOND, left + ((at - filledAt) / 1_000) * WRONG_PER_SECOND);
    filledAt = at;
  }

  return {
    /** `isKnown`: it is shown by a follower whom the room knows, and who so had the token before. It is always looked at. */
    look(shown: string, isKnown: boolean): TokenAnswer {
      const digest = digestOf(shown);
      const name = digest.toString('base64');
      if (wrong.has(name)) return 'wrong';
      fill();
      if (left < 1 && !isKnown) return 'later';
      if (timingSafeEqual(digest, right)) return 'right';
      left = Math.max(0, left - 1);
      wrong.add(name);
      if (wrong.size > REMEMBERED) wrong.delete(wrong.values().next().value as string);
      return 'wrong';
    },
  };
}

/** A phone writes the first letter large, and hands leave out the hyphens. */
function digestOf(token: string): Buffer {
  const letters = token.toLowerCase().replace(/[^a-z0-9]/g, '');
  return createHash('sha256').update(letters).digest();
}
