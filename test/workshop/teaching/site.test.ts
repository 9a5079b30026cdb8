import { expect, test } from 'vitest';
import { headOf, siteFiles, siteOf } from '../../../workshop/teaching/site.ts';

const page = 'the page';

test('a site: of a known address what is shown elsewhere, and at any depth, has all of it', () => {
  const site = siteOf(page, 'the report', 'https://example.org/lab/');

  expect(Object.keys(site)).toEqual([...siteFiles]);
  expect(site['report.html']).toBe('the report');
  expect(site['index.html']).toBe(page);
  const head = headOf('https://example.org/lab/');
  expect(head).toContain('<link rel="alternate" href="report.html">');
  expect(head).toContain('<meta property="og:image" content="https://example.org/lab/share.png">');
  expect(head).toContain('<link rel="canonical" href="https://example.org/lab/">');
  expect(site['404.html']).toContain('<a href="https://example.org/lab/">');
});

test('a site: without an address its links are relative, and it names no address', () => {
  const site = siteOf(page, '', undefined);

  expect(headOf()).toContain('content="share.png"');
  expect(headOf()).not.toContain('canonical');
  expect(site['404.html']).toContain('<a href="./">');
});

test('a site: the picture that is shown elsewhere has the size that its page says', () => {
  const picture = siteOf(page, '', undefined)['share.png'] as Buffer;

  expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1_200, 630]);
});
