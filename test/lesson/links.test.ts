import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, linksOf } from './markdown.ts';
import { exists, listDeep, readText } from './project-files.ts';

/** What is wrong with a link of this page; undefined when nothing is. */
function whyBroken(page: string, link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) {
    return /^(https?|mailto):/.test(link) && URL.canParse(link) ? undefined : `${page}: ${link} is no address`;
  }
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (!exists(file)) return `${page}: ${link}: there is no ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(readText(file)).includes(anchor) ? undefined : `${page}: ${link}: ${file} has no such heading`;
}

test('links: every one leads to a file that exists, and to a heading that it has', () => {
  const pages = listDeep().filter((file) => file.endsWith('.md'));

  expect(pages.flatMap((page) => linksOf(readText(page)).flatMap((link) => whyBroken(page, link) ?? []))).toEqual([]);
  expect(pages).toContain('README.md');
});

test('links: what is wrong with one is found, and a right one is left alone', () => {
  const pages = ['docs/no-such-page.md', '#no-such-heading', 'docs/glossary.md#no-such-heading'];
  const wrong = [...pages, 'https://', 'javascript:alert(1)'];
  const right = [
    'docs/glossary.md',
    'docs/decisions',
    '#the-eight-stages',
    'docs/glossary.md#the-lock',
    'https://redis.io/',
  ];

  expect(wrong.filter((link) => whyBroken('README.md', link) === undefined)).toEqual([]);
  expect(right.flatMap((link) => whyBroken('README.md', link) ?? [])).toEqual([]);
});

test('links: pictures are read, code is not, and headings are named as GitHub does', () => {
  const page = 'a [b](c.md#d) ![e](f.png) `[g](h.md)` [i](j_(k).md)\n```md\n[l](m.md)\n```\n<img src="n.png">';
  const headings = '# A · b\n## `results.json`\n## What a *run* prints?\n## A · b\n```\n# no\n```';

  expect(linksOf(page)).toEqual(['c.md#d', 'f.png', 'j_(k).md', 'n.png']);
  expect(anchorsOf(headings)).toEqual(['a--b', 'resultsjson', 'what-a-run-prints', 'a--b-1']);
});
