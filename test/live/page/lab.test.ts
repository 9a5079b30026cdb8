import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sha1 } from '../../../live/page/shims/sha1.ts';
import { hasBrowser } from '../browser.ts';
import { ownPage, playBoth, searchBoth } from './open-page.ts';

// All cells: test/soak/live/page-cells.test.ts.
describe.skipIf(!hasBrowser)('the lab in the page (skipped where there is no Chromium)', () => {
  const own = ownPage();

  test.each([
    ['0-none', 'rush'],
    ['8-auto-renew', 'blocked-loop'],
    ['cohort', 'late-release'],
  ])('%s, %s: the verdict and the log are those of Node, byte for byte', async (stage, drill) => {
    const { inPage, inNode } = await playBoth(await own.open(), stage, drill);

    expect(inPage).toEqual(inNode);
  });

  test.each([
    ['4-ttl', 'slow-holder'],
    ['6-lua-release', 'late-release'],
  ])('%s, %s: the search finds what it finds in Node, with the same counts', async (stage, scope) => {
    const { inPage, inNode } = await searchBoth(await own.open(), stage, scope);

    expect(inPage).toEqual(inNode);
  });
});

test('SHA-1 is that of Node, at each length around a block', () => {
  for (let length = 0; length < 130; length += 1) {
    const text = 'é'.repeat(length);
    expect(Buffer.from(sha1(Buffer.from(text))).toString('hex')).toBe(createHash('sha1').update(text).digest('hex'));
  }
});
