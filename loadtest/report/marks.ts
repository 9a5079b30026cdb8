// The ending U+FE0E asks for the sign of the text font: without it some systems draw a coloured picture.
const tick = '✔\uFE0E';
const cross = '✘\uFE0E';

export const verdictMarks = {
  'as-taught': tick,
  'not-as-taught': cross,
  unknown: '?',
  holds: tick,
  broken: cross,
} as const;

/** The mark and the word for what became of a cell. */
export const states = {
  pass: { mark: tick, word: 'pass' },
  fail: { mark: cross, word: 'fail' },
  unknown: { mark: '?', word: 'unknown' },
  'not-applicable': { mark: '–', word: 'not applicable' },
  'left-out': { mark: '', word: 'left out' },
  blank: { mark: '', word: '' },
} as const;

/** What a lock fails and does not promise. */
export const beyondPromise = { mark: `(${cross})`, word: 'fail, and it is not promised' } as const;

/** The id of a stage in the page, or of one of its drills. */
export function anchor(...names: string[]): string {
  return names.map((name) => name.replace(/[^\w-]+/g, '-')).join('.');
}
