import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorsOf, linksOf } from './markdown.ts';
import { exists, listDeep, readText } from './project-files.ts';

const pages = listDeep().filter((file) => file.endsWith('.md'));

/** What is wrong with a link of this page; undefined when nothing is. */
function whyBroken(page: string, link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) {
    return /^(https?|mailto):/.test(link) && URL.canParse(link) ? undefined : `${link} is no address`;
  }
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (!exists(file)) return `${link}: there is no ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(readText(file)).includes(anchor) ? undefined : `${link}: ${file} has no such heading`;
}

test.each(pages)('%s: every link leads to a file that exists, and to a heading that it has', (page) => {
  const broken = linksOf(readText(page)).flatMap((link) => whyBroken(page, link) ?? []);

  expect(broken.join('\n')).toBe('');
});

describe('the check itself', () => {
  test.each([
    ['a file that does not exist', 'docs/no-such-page.md'],
    ['a heading that the page does not have', '#no-such-heading'],
    ['a heading that another page does not have', 'docs/glossary.md#no-such-heading'],
    ['the heading of a page that has moved', 'README.md#one-stage-or-all-of-it'],
    ['an address that is none', 'https://'],
    ['an address of another kind', 'javascript:alert(1)'],
  ])('finds %s', (_what, link) => {
    expect(whyBroken('README.md', link)).toBeDefined();
  });

  test.each([
    ['a file', 'docs/glossary.md'],
    ['a folder', 'docs/decisions'],
    ['a heading', '#the-eight-stages'],
    ['the heading of another page', 'docs/glossary.md#the-lock'],
    ['an address', 'https://redis.io/docs/latest/'],
  ])('accepts %s', (_what, link) => {
    expect(whyBroken('README.md', link)).toBeUndefined();
  });

  test('reads links and pictures, and no code', () => {
    const page = 'a [b](c.md#d) ![e](f.png) `[g](h.md)` [i](j_(k).md)\n```md\n[l](m.md)\n```\n<img src="n.png">';

    expect(linksOf(page)).toEqual(['c.md#d', 'f.png', 'j_(k).md', 'n.png']);
  });

  test('names headings as GitHub does', () => {
    expect(anchorsOf('# A · b\n## `results.json`\n## What a *run* prints?\n## A · b\n```\n# no\n```')).toEqual([
      'a--b',
      'resultsjson',
      'what-a-run-prints',
      'a--b-1',
    ]);
  });
});
