import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, linksOf } from './markdown.ts';
import { exists, listDeep, readText } from './project-files.ts';

/** What is wrong with a link of this page; nothing when it is right. */
function whyBroken(page: string, link: string): string[] {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) {
    return /^(https?|mailto):/.test(link) && URL.canParse(link) ? [] : [`${page}: ${link} is no address`];
  }
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (!exists(file)) return [`${page}: ${link}: there is no ${file}`];
  if (anchor === undefined || !file.endsWith('.md')) return [];
  return anchorsOf(readText(file)).includes(anchor) ? [] : [`${page}: ${link}: ${file} has no such heading`];
}

test('links: every one leads to a file that exists, and to a heading that it has', () => {
  const pages = listDeep().filter((file) => file.endsWith('.md'));

  expect(pages.flatMap((page) => linksOf(readText(page)).flatMap((link) => whyBroken(page, link)))).toEqual([]);
  expect(pages).toContain('README.md');
});

test('links: a file, a heading and an address that are wrong are found; pictures are read, and code is not', () => {
  const wrong = ['docs/no-such-page.md', '#no-such-heading', 'docs/glossary.md#no-such-heading', 'javascript:alert(1)'];
  const right = ['docs/glossary.md', '#the-eight-stages', 'docs/glossary.md#the-lock', 'https://redis.io/'];
  const page = 'a [b](c.md#d) ![e](f.png) `[g](h.md)` [i](j_(k).md)\n```md\n[l](m.md)\n```\n<img src="n.png">';

  expect(wrong.map((link) => whyBroken('README.md', link).length)).toEqual([1, 1, 1, 1]);
  expect(right.flatMap((link) => whyBroken('README.md', link))).toEqual([]);
  expect(linksOf(page)).toEqual(['c.md#d', 'f.png', 'j_(k).md', 'n.png']);
  expect(anchorsOf('# A · b\n## `results.json`\n## A · b\n')).toEqual(['a--b', 'resultsjson', 'a--b-1']);
});
