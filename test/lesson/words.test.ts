import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';

/** What stands for a thing that has a word already: one word for one thing. */
const OTHER_WORDS: Record<string, RegExp> = {
  'external lock': /\bguests?\b/i,
  'test bed': /\bscenes?\b/i,
  'sale service': /\bsale.?desk\b/i,
  resume: /\bgo-on\b|\buntil told\b|\buntilTold\b/i,
  cancel: /\bcall(ed)? off\b|\bcallOff\b/i,
  'a noun, or "a client that"': /\bwhoever\b/i,
  certainly: /\bfor certain\b/i,
  'the course has no': /\bnone of ours\b/i,
  'there is no': /\bto be had\b/i,
};

const texts = listDeep()
  .filter((file) => /\.(ts|mjs|lua|md|sh|yml|template)$/.test(file))
  .filter((file) => file !== 'test/lesson/words.test.ts');
const sources = texts.filter((file) => file.endsWith('.ts'));

const places = (files: string[], pattern: RegExp) =>
  files.flatMap((file) =>
    readText(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );

test.each(Object.entries(OTHER_WORDS))('words: it says %s, and nothing else for it', (_word, other) => {
  expect(places(texts, other)).toEqual([]);
});

test('docstrings: each stands alone, none begins with "The same" or "As"', () => {
  expect(places(sources, /^\s*(\/\*\*|\*) (The same|As)\b/)).toEqual([]);
});
