import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handoutPage } from '../../../teaching/handout-page.ts';
import { slidesPage } from '../../../teaching/slides.ts';
import { stageFacts } from '../../../teaching/stages.ts';
import { hasBrowser, launchBrowser } from '../../live/browser.ts';
import { makeOwnFont } from '../live/own-font.ts';
import { violations } from '../live/violations.ts';

const stages = stageFacts();
const slides = slidesPage(stages);
const projectors = [
  [1_280, 720],
  [1_024, 768],
] as const;

describe.skipIf(!hasBrowser)('slides and handout, in DejaVu (skipped where there is no Chromium)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'teaching-'));
  const fonts = makeOwnFont();
  const complaints: string[] = [];
  let browser: Browser;
  beforeAll(async () => {
    writeFileSync(join(dir, 'slides.html'), slides);
    writeFileSync(join(dir, 'handout.html'), handoutPage(stages));
    browser = await launchBrowser(fonts.file);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true });
    fonts.remove();
    // A Content Security Policy that forbids the page's own script would be one.
    expect(complaints).toEqual([]);
  });

  async function open(name: string, [width, height]: readonly [number, number], options: BrowserContextOptions = {}) {
    const page = await browser.newPage({ viewport: { width, height }, reducedMotion: 'reduce', ...options });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', ({ message }) => complaints.push(message));
    await page.goto(pathToFileURL(join(dir, name)).href);
    return page;
  }
  const unfold = (page: Page) =>
    page.evaluate(() => {
      for (const answer of document.querySelectorAll('details')) answer.open = true;
    });

  test.each(projectors)(
    'a projector of %i × %i: each slide fits with its answer unfolded, and the last row can read it',
    async (...size) => {
      const page = await open('slides.html', size);
      await unfold(page);
      const { large, small } = await page.evaluate((least) => {
        const isLarge = (slide: Element) =>
          slide.clientHeight > innerHeight ||
          [slide, ...slide.querySelectorAll('.scroll')].some((part) => part.scrollWidth > part.clientWidth);
        const read = '.diff span, .because li, .beyond dd, .staircase td, .legend';
        const sizeOf = (part: Element) => Number.parseFloat(getComputedStyle(part).fontSize);
        return {
          large: [...document.querySelectorAll('.slide')].filter(isLarge).map(({ id }) => id),
          small: [...document.querySelectorAll(read)]
            .filter((part) => sizeOf(part) < least)
            .map((part) => `${part.closest('.slide')?.id} ${part.className}`),
        };
      }, size[0] / 65);

      expect({ large, small }).toEqual({ large: [], small: [] });
    },
  );

  test('the keys go on and back, fold an answer out, and change the colours', async () => {
    const page = await open('slides.html', [1_280, 720]);
    const at = () => page.evaluate(() => location.hash.slice(1));
    const [first] = stages;
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const answer = page.locator('.slide').nth(2).locator('details');
    const isOpen = () => answer.evaluate((details: HTMLDetailsElement) => details.open);

    await page.keyboard.press('ArrowRight');
    expect(await at()).toBe(first?.name);
    await page.keyboard.press(' ');
    expect([await at(), await isOpen()]).toEqual([`${first?.name}-${first?.questions[0]?.drill}`, false]);
    await page.keyboard.press('a');
    expect(await isOpen()).toBe(true);
    await page.keyboard.press('ArrowLeft');
    expect(await at()).toBe(first?.name);
    await page.keyboard.press('End');
    expect(await at()).toBe('end');
    await page.keyboard.press('Home');
    expect(await at()).toBe('start');
    const before = await paper();
    await page.keyboard.press('t');
    expect(await paper()).not.toBe(before);
  });

  test.each([
    ['handout.html', 1],
    ['slides.html', slides.split('<section class="slide"').length - 1],
  ])('%s: %i sheets of paper; on a phone it does not scroll to the right; axe finds nothing', async (name, sheets) => {
    const pdf = await (await open(name, [1_280, 720])).pdf({ preferCSSPageSize: true });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(sheets);

    const onPhone = await open(name, [400, 800]);
    expect(await onPhone.evaluate(() => document.documentElement.scrollWidth)).toBe(400);
    expect(await violations(await open(name, [1_280, 720], { bypassCSP: true }))).toEqual([]);
  });
});
