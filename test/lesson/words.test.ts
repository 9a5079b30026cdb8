import { expect, test } from 'vitest';
import { paragraphsOf } from './markdown.ts';
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

/** Habits of the prose that made readers stop, with what to write instead. */
const HABITS: { habit: RegExp; write: string; like: string; unlike: string }[] = [
  {
    habit: /(?:^|[.:;!?] |\*\*\. )Who (?![^.;?]*\?)[a-z]/,
    write: 'a sentence that begins with "Who" is a question: name the one who does it',
    like: 'Who wants the lock creates a node.',
    unlike: 'Who wants the lock?',
  },
  {
    habit: /\b(?:to|of|for|with|by|than|that|from) who [a-z]/,
    write: 'a noun before "who"',
    like: 'The answers to who only looked came first.',
    unlike: 'The answers to those who only looked came first.',
  },
  {
    habit: /(?:^|[.!?] )Of (?:a|the|two|one|this|several|each|both) (?![^.]*\?)/,
    write: 'the subject first',
    like: 'It works. Of a rush it shows the speed.',
    unlike: 'It shows the speed of a rush.',
  },
  {
    habit: /\bbut for\b/i,
    write: '"except for"',
    like: 'It is stage 6 but for one line.',
    unlike: 'It is stage 6, except for one line.',
  },
  {
    habit: /\bof so many\b|\bfor so long,|\bat least so long\b/i,
    write: 'how many, or how long',
    like: 'It is said of so many processes.',
    unlike: 'It is about two processes.',
  },
  { habit: /\bmany an? [a-z]/i, write: '"many"', like: 'Many a shop has one.', unlike: 'Many shops have one.' },
  {
    habit: /\bheal(?:s|ed|ing)?\b/i,
    write: '"mend", "prevent", or what is done',
    like: 'No lock can heal a late write.',
    unlike: 'The container is healthy.',
  },
  {
    habit: /\bsigns? of ASCII\b/i,
    write: '"ASCII characters"',
    like: 'It is 255 signs of ASCII.',
    unlike: 'It is 255 ASCII characters.',
  },
  {
    habit: /\bleaves? (?:the |out )?quotes away\b/i,
    write: '"leave out"',
    like: 'They leave the quotes away.',
    unlike: 'They leave the quotes out.',
  },
  {
    habit: /\bleaves? it at that\b/i,
    write: 'what it does next',
    like: 'The service leaves it at that.',
    unlike: 'The service does not try again.',
  },
  {
    habit: /\b(?:comes?|came|coming) to nothing\b|\blittle else to do\b|\bprograms at work\b/i,
    write: 'what happens, and to what',
    like: 'Run it with fewer programs at work.',
    unlike: 'Close other programs.',
  },
  {
    habit: /\bmore than there (?:is|are|have)\b/i,
    write: 'the noun again',
    like: 'Two drills more than there have nothing to break.',
    unlike: 'Two more drills have nothing to break.',
  },
  {
    habit: /\bis nobody['’]s best\b|\bthat much less\b|\bthe longer it comes\b/i,
    write: 'plain words',
    like: 'Then it is nobody’s best.',
    unlike: 'Then it cannot be the best.',
  },
];

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

/** The pages of docs/verdicts quote what libraries promise, and witnesses. */
const pages = texts.filter((file) => file.endsWith('.md') && !/^docs\/verdicts\/(?!README)/.test(file));

test.each(pages)('%s: has none of the habits that make readers stop', (page) => {
  const found = paragraphsOf(readText(page)).flatMap(({ line, text }) =>
    HABITS.flatMap(({ habit, write }) => {
      const [words] = habit.exec(text.replace(/`[^`]*`/g, '`…`')) ?? [];
      return words === undefined ? [] : [`${page}:${line} "${words.trim()}": write ${write}`];
    }),
  );

  expect(found.join('\n')).toBe('');
});

test.each(HABITS)('words: $write, as in "$like"', ({ habit, like, unlike }) => {
  expect(habit.test(like)).toBe(true);
  expect(habit.test(unlike)).toBe(false);
});

test('cspell.json: the words that it does not know are sorted, and each is in a text', () => {
  const { words } = JSON.parse(readText('cspell.json')) as { words: string[] };
  const files = listDeep().filter((file) => /(\.md|predict\.json)$/.test(file));
  const text = files.map(readText).join().toLowerCase();
  const sorted = words.toSorted((a, b) => a.localeCompare(b, 'en'));

  expect(words).toEqual(sorted);
  expect(words.filter((word) => !text.includes(word.toLowerCase()))).toEqual([]);
});
