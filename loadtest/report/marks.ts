import type { Verdict } from '../evidence/results.ts';

/** The sign of a verdict. */
export const signs: Record<Verdict, string> = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

/** A verdict as a word. */
export const words: Record<Verdict, string> = {
  pass: 'holds',
  fail: 'fails',
  unknown: 'unknown',
  'not-applicable': 'not applicable',
};

// The ending U+FE0E asks for the sign of the text font: without it some systems draw a coloured picture.
const tick = `${signs.pass}\uFE0E`;
const cross = `${signs.fail}\uFE0E`;

/** The verdict of a cell that looks as this verdict on a run, or on a lock. */
export const looksLike = {
  'as-taught': 'pass',
  holds: 'pass',
  'not-as-taught': 'fail',
  broken: 'fail',
  unknown: 'unknown',
} as const;

/** The mark and the word for what became of a cell, on a page. */
export const states = {
  pass: { mark: tick, word: words.pass },
  fail: { mark: cross, word: words.fail },
  unknown: { mark: '?', word: words.unknown },
  'not-applicable': { mark: '–', word: words['not-applicable'] },
  'left-out': { mark: '', word: 'left out' },
  blank: { mark: '', word: '' },
} as const;

/** What a lock fails and does not promise. */
export const beyondPromise = { mark: `(${cross})`, word: 'fails, and it is not promised' } as const;

/** The id of a stage in the page, or of one of its drills. */
export function anchor(...names: string[]): string {
  return names.map((name) => name.replace(/[^\w-]+/g, '-')).join('.');
}
