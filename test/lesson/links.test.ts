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
