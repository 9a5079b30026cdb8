import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePage } from '../../../live/server/page-files.ts';
import { hasBrowser } from '../../live/browser.ts';
import { begin, button, choose, ownLivePage, play, says } from '../../live/live-page.ts';
import { whatDoesNotFit, windows } from './fits.ts';
import { makeOwnFont } from './own-font.ts';
import { violations } from './violations.ts';

describe.skipIf(!hasBrowser)('the live page fits, in DejaVu (skipped where there is no Chromium)', () => {
  let fonts: ReturnType<typeof makeOwnFont>;
  /** The page in a language with longer words. */
  let longerPage: string;
  beforeAll(async () => {
    fonts = makeOwnFont();
    const { files } = await makePage({ textsFile: join(import.meta.dirname, 'longer-texts.ts') });
    longerPage = files['/page.js']?.text ?? '';
  });
  afterAll(() => fonts.remove());
  const live = ownLivePage({ args: ['--lease', '1000'], fontsFile: () => fonts.file });

  /** The page of the presenter in English, and beside it one that shows the same with longer words. */
  async function both(): Promise<{ page: Page; longer: Page }> {
    const page = await live.presenter();
    const longer = await page.context().newPage();
    await longer.route('**/page.js', (route) => route.fulfill({ contentType: 'text/javascript', body: longerPage }));
    await longer.goto(live.address());
    await says(longer, /Playpl/);
    return { page, longer };
  }

  /** Nothing is cut, hidden or covered in any of these windows. */
  async function fits(pages: Record<string, Page>, sizes: readonly (readonly [number, number])[] = windows) {
    const found: string[] = [];
    for (const [name, page] of Object.entries(pages)) {
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height });
        for (const problem of await whatDoesNotFit(page)) found.push(`${name}, ${width} wide: ${problem}`);
      }
      await page.setViewportSize({ width: 1_280, height: 720 });
    }
    expect(found).toEqual([]);
  }

  const inPart = (page: Page, part: string, name: string) =>
    page.getByRole('group', { name: part, exact: true }).getByRole('button', { name, exact: true });
  const placeOfPlay = async (page: Page) => (await button(page, 'Play').boundingBox())?.x;

  test('the font is the one that the test brings', async () => {
    const page = await live.presenter();
    const widths = await page.evaluate(() => {
      const pen = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
      return ['system-ui', 'sans-serif', '"DejaVu Sans"', 'monospace', '"DejaVu Sans Mono"'].map((family) => {
        pen.font = `18px ${family}`;
        return pen.measureText('Waiters wait.').width;
      });
    });

    expect(widths[0]).toBe(widths[2]);
    expect(widths[1]).toBe(widths[2]);
    expect(widths[3]).toBe(widths[4]);
  });

  test('a verdict, and a verdict with the code; Play has not moved', async () => {
    const pages = await both();
    const before = await placeOfPlay(pages.page);
    expect(await play(pages.page, '6-lua-release', 'nested-call')).toContain('fails, as taught');
    expect(await placeOfPlay(pages.page)).toBe(before);
    await fits(pages);
    for (const seen of Object.values(pages)) await seen.locator('#tab-code-0').click();
    await fits(pages);
  });

  test('the figures of a rush', async () => {
    const pages = await both();
    await play(pages.page, '1-in-process', 'rush');
    await fits(pages);
  });

  test('a step that waits', async () => {
    const pages = await both();
    await begin(pages.page, '8-auto-renew', 'paused-process', 'Step by step');
    await says(pages.page, /SIGSTOP/);
    await fits(pages);
  });

  test('two stages side by side; a question has half of the page', async () => {
    const pages = await both();
    for (const seen of Object.values(pages)) await seen.locator('.check input').check();
    expect(await play(pages.page, '4-ttl', 'crashed-holder')).toContain('fails, as taught');
    await fits(pages);
    await pages.page.keyboard.press('q');
    await says(pages.page, 'Votes are open.');
    expect((await pages.page.locator('.panel').boundingBox())?.height).toBeGreaterThan(400);
  });

  test('free play, and much that is broken', async () => {
    const pages = await both();
    const { page } = pages;
    await choose(page, '8-auto-renew');
    await button(page, 'Free play').click();
    await inPart(page, 'node-2', 'Hold a write').click();
    await inPart(page, 'node-2', 'Sell').click();
    await says(page, 'held');
    await inPart(page, 'node-1', 'Stop').click();
    await says(page, 'stopped');
    await inPart(page, 'redis', 'Stop').click();
    await inPart(page, 'redis', 'Go on').waitFor();
    await fits(pages);
  });

  test('a question that is open, its answer, and the phone', async () => {
    const pages = await both();
    const phone = await live.follower();
    await choose(pages.page, '4-ttl', 'slow-holder');
    for (const seen of Object.values(pages)) await seen.locator('#tab-predict-0').click();
    await pages.page.keyboard.press('q');
    await phone.locator('.room-choice').nth(1).click();
    await says(pages.page, '1 of 1 have voted.');
    await fits(pages);
    await fits({ phone }, [[400, 800]]);
    expect(await play(pages.page, '4-ttl', 'slow-holder')).toContain('fails, as taught');
    await pages.page.keyboard.press('r');
    await says(phone, /is right\.$/);
    await fits(pages);
    await fits({ phone }, [[400, 800]]);
  });

  test('the scheduler', async () => {
    const pages = await both();
    for (const seen of Object.values(pages)) await seen.locator('.orders button').nth(3).click();
    const level = pages.page.getByLabel('Level');
    const name = await level.locator('option', { hasText: /Stage 6.*late-release/ }).getAttribute('value');
    await level.selectOption(name);
    await says(pages.page, /all [\d,]+ orders, none does it/);
    await pages.longer.locator('.puzzle-move').first().waitFor();
    await fits(pages);
  });

  test.each(['light', 'dark'] as const)('before the first drill; axe finds nothing, %s', async (colorScheme) => {
    await fits(await both());
    for (const seen of [
      await live.presenter({ colorScheme, bypassCSP: true }),
      await live.follower({ colorScheme, bypassCSP: true }),
    ]) {
      await says(seen, /node-1/);
      expect(await violations(seen)).toEqual([]);
    }
  });
});
