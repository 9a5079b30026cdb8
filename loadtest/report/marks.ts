import type { Verdict } from '../evidence/results.ts';
import { type Both, inLanguage } from '../narration/language.ts';
import { either } from '../narration/spoken.ts';

/** The sign of a verdict. */
export const signs: Record<Verdict, string> = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

const words: Record<Verdict, Both> = {
  pass: ['holds', '通过'],
  fail: ['fails', '不通过'],
  unknown: ['unknown', '未知'],
  'not-applicable': ['not applicable', '不适用'],
};

/** A verdict as a word. */
export const wordOf = (verdict: Verdict) => inLanguage(words[verdict]);

/** The sign of a verdict on a page. The ending U+FE0E asks for that of the text font: without it some systems draw a coloured picture. */
const onPage = (verdict: Verdict) => signs[verdict].replace(/[✔✘]/, '$&\uFE0E');

/** The verdict of a cell that looks as this verdict on a run, or on a lock. */
export const looksLike = {
  'as-expected': 'pass',
  holds: 'pass',
  'not-as-expected': 'fail',
  broken: 'fail',
  unknown: 'unknown',
} as const;

/** The mark and the word for a verdict, on a page. */
export const markOf = (verdict: Verdict) => ({ mark: onPage(verdict), word: wordOf(verdict) });

/** What a lock fails and does not promise. */
export const beyondPromise = () => ({
  mark: `(${onPage('fail')})`,
  word: either('fails, and it is not promised', '不通过，但没有承诺过'),
});

/** The id of a stage in the page, or of one of its drills. */
export function anchor(...names: string[]): string {
  return names.map((name) => name.replace(/[^\p{L}\p{N}_-]+/gu, '-')).join('.');
}
