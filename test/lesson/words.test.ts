// The words of the docs: those of the field, not those that the project had before; and Chinese with Chinese punctuation.

import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';

/** What a page must not say, and what it says instead. */
const RETIRED: [word: RegExp, instead: string][] = [
  [/\bas[- ]taught\b|\btaught in\b/i, 'expected'],
  [/\bwitness(es)?\b/i, 'evidence'],
  [/\border of events\b|\borders of events\b/i, 'interleaving'],
  [/\bvirtual (world|time|lab)\b/i, 'simulation, simulated time'],
  [/\blab listeners?\b/i, 'admin API'],
  [/\bput aside\b/i, 'dead-lettered'],
  [/\bstands? still\b|\bstood still\b|\bstandstills?\b/i, 'is paused, is unavailable'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\btells? the story\b|\bthe story of (a|the|each) stages?\b/i, 'walkthrough'],
];
/** The same in Chinese, in pages and in texts of the sources: those of the course and of the glossary count. */
const RETIRED_CHINESE: [word: RegExp, instead: string][] = [
  [/锁里|锁内/, '持有锁、临界区'],
  [/又看又删|看又删|先看再删/, '原子地完成判断和删除，先判断再删除'],
  [/锁空了/, '锁已释放'],
  [/挂断/, '断开连接'],
  [/挂住/, '卡死'],
  [/一篮/, '一单多件'],
  [/怎样算解决/, '通过标准'],
  [/给锁打分/, '检验你的锁'],
  [/教室/, '课堂、发起投票'],
  [/撤销/, '覆盖（丢失更新），回滚（事务）'],
  [/防护令牌|栅栏令牌/, 'fencing 令牌'],
  [/事件顺序/, '交错'],
];
/** A marker with what is generated below it, a block, a piece of code, and where a link leads. */
const NOT_PROSE = /<!-- (\w+): .*?<!-- \/\1 -->|^ *```.*?^ *```|`[^`]*`|(?<=\])\([^)]*\)/gms;

const pages = listDeep().filter((file) => file.endsWith('.md'));
const docs = pages.filter((file) => file.startsWith('docs/') || file === 'README.md' || file === 'CONTRIBUTING.md');

/** Blanks keep every line where it is. */
const proseOf = (page: string) => page.replace(NOT_PROSE, (text) => text.replace(/[^\n]/g, ' '));

test('words: docs/ and the README have none that was given up', () => {
  const found = docs.flatMap((file) =>
    proseOf(readText(file))
      .split('\n')
      .flatMap((line, at) =>
        RETIRED.flatMap(([word, instead]) => {
          const [said] = word.exec(line) ?? [];
          return said === undefined ? [] : [`${file}:${at + 1}: "${said}": ${instead}`];
        }),
      ),
  );

  expect(found).toEqual([]);
});

test('Chinese: no page and no text of the sources has a word that was given up', () => {
  const files = listDeep().filter(
    (file) => /\.(md|ts|txt|json|html)$/.test(file) && file !== 'test/lesson/words.test.ts',
  );
  const found = files.flatMap((file) => {
    const text = readText(file);
    return RETIRED_CHINESE.flatMap(([word, instead]) => {
      const [said] = word.exec(text) ?? [];
      return said === undefined ? [] : [`${file}: ${said}: ${instead}`];
    });
  });

  expect(found).toEqual([]);
});

/** GitHub shows the asterisks where bold text ends in a sign and a letter follows. */
const STAYS_PLAIN = /^.*[。，：；？！）]\*\*$/u;

test('Chinese: bold text in a page ends where GitHub sees it', () => {
  const found = pages.flatMap((file) =>
    [...proseOf(readText(file)).matchAll(/(\*\*[^*\n]+\*\*)(?=[\p{L}\p{N}])/gu)]
      .filter(([bold]) => STAYS_PLAIN.test(bold))
      .map(([bold]) => `${file}: ${bold}`),
  );

  expect(found).toEqual([]);
});

/** The answer of a shop of the course, as the course has it. */
const OF_THE_COURSE = ['services/inventory/sale/in-words.ts'];
/** One in English text says what a word is called in Chinese. */
const GLOSS = /\([\p{Script=Han}、]+\)/gu;
const HALF_WIDTH = /\p{Script=Han}[,:;?!()]|[,:;?!()]\p{Script=Han}/u;

test('Chinese: its punctuation is full-width, in each page and in each text of the sources', () => {
  const sources = listDeep().filter((file) => file.endsWith('.ts') && !/^test\//.test(file));
  const texts = [
    ...pages.map((file) => [file, proseOf(readText(file))]),
    ...sources.filter((file) => !OF_THE_COURSE.includes(file)).map((file) => [file, readText(file)]),
  ];
  const found = texts.flatMap(([file, text = '']) =>
    text
      .split('\n')
      .flatMap((line, at) => (HALF_WIDTH.test(line.replace(GLOSS, '')) ? `${file}:${at + 1}: ${line.trim()}` : [])),
  );

  expect(found).toEqual([]);
});
