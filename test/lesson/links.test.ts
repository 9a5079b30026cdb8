import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, inlineCodeOf, linksOf } from './markdown.ts';
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

/** They tell of the code of others: Redisson, Curator, ShedLock, what a course shows. */
const OF_OTHERS = [
  'docs/explanation/redisson.md',
  'docs/beyond/zookeeper.md',
  'docs/orders/cleanup.md',
  'docs/teach/course.md',
  'docs/zh-CN/learn/2-recursive-retry.md',
  'docs/zh-CN/learn/4-ttl.md',
];

test('names: each name of the code that stands in the text of a page is in the sources', () => {
  const sources = listDeep().filter((file) => /\.(ts|mjs|lua|sh|json|yml)$/.test(file) && !file.startsWith('docs/'));
  const words = new Set(sources.flatMap((file) => readText(file).match(/\w+/g) ?? []));
  const pages = listDeep('docs').filter((file) => file.endsWith('.md') && !OF_OTHERS.includes(file));
  // Such as `saleLifeMs`, with its brackets or without.
  const names = (code: string) => code.match(/(?<![\w.-])([a-z]+[A-Z]\w*|\w+(?=\(\)))/g) ?? [];
  const named = pages.flatMap((page) =>
    inlineCodeOf(readText(page))
      .flatMap(names)
      .map((name) => ({ page, name })),
  );

  expect(named.filter(({ name }) => !words.has(name))).toEqual([]);
  expect(named.length).toBeGreaterThan(100);
});
