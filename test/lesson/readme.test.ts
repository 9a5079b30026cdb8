import { expect, test } from 'vitest';
import { readText } from './project-files.ts';

/** Both pages show what the other one shows: only the words differ. */
test.each<[what: string, read: (page: string) => unknown]>([
  ['headings', (page) => matches(page, /^#+(?= )/gm)],
  ['tables: their rows and columns', (page) => matches(page, /^\|.*$/gm).map((row) => row.split(/(?<!\\)\|/).length)],
  ['commands, without their comments', (page) => matches(page, /^```sh\n.*?^```/gms).map(withoutComments)],
  ['lines of output', (page) => matches(page, /^```text\n.*?^```/gms).map((block) => block.split('\n').length)],
  ['code in the prose', (page) => matches(outsideOfCode(page), /`[^`]+`/g).toSorted()],
  [
    'links',
    (page) =>
      matches(page, /\]\([^)]+\)/g)
        .filter((link) => !link.includes('README'))
        .map((link) => link.replace('docs/zh-CN/', 'docs/'))
        .toSorted(),
  ],
])('README: English and Chinese have the same %s', (_, read) => {
  const [english, chinese] = ['README.md', 'README.zh-CN.md'].map((file) => read(readText(file)));

  expect(chinese).toEqual(english);
});

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([match]) => match);
}

function outsideOfCode(page: string): string {
  return page.replace(/^```.*?^```/gms, '');
}

/** A comment ends a command, or stands behind a path. */
function withoutComments(block: string): string[] {
  return block.split('\n').map((line) => line.replace(/\s{2,}.*$|\s+#.*$/, ''));
}
