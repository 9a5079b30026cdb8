import { expect, test } from 'vitest';
import { filmOf, playRace } from '../../../workshop/teaching/film.ts';

/** The README is opened often, and on phones. */
const MOST_BYTES = 100_000;

test('the film: each frame follows the one before, it ends with unit 100 sold twice, and nothing of it needs more than the file', async () => {
  const race = await playRace();
  const film = await filmOf(race, 'light');
  const frames = [...film.matchAll(/@keyframes f\d+ \{(?: 0% \{ visibility: hidden \})? ([\d.]+)%/g)];
  const begins = frames.map(([, at]) => Number(at));

  expect(begins.length).toBeGreaterThan(30);
  expect(begins).toEqual(begins.toSorted((a, b) => a - b));
  expect(film.length).toBeLessThan(MOST_BYTES);
  expect(film).toContain('prefers-reduced-motion: no-preference');
  expect(film).not.toMatch(/<script|@import|url\(|href="(?!#)/);
});

test('the still: the end of the film, and nothing that moves', async () => {
  const still = await filmOf(await playRace(), 'dark', true);

  expect(still.match(/class="frame"/g)).toHaveLength(1);
  expect(still).toContain('should be 98');
  expect(still.match(/>unit 100</g)).toHaveLength(2);
});
