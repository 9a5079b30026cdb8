import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { handoutPage } from '../../../teaching/handout-page.ts';
import { slidesPage } from '../../../teaching/slides.ts';
import { stageFacts } from '../../../teaching/stages.ts';
import { hasBrowser, launchBrowser } from '../../live/browser.ts';

const stages = stageFacts();
const slides = slidesPage(stages);
const handout = handoutPage(stages);

describe.skipIf(!hasBrowser)('in a browser (skipped where there is no Chromium)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'teaching-'));
  const complaints: string[] = [];
  let browser: Browser;
  const addressOf = (name: string) => pathToFileURL(join(dir, name)).href;

  async function open(name: string, width: number, height: number): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height }, reducedMotion: 'reduce' });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', ({ message }) => complaints.push(message));
    await page.goto(addressOf(name));
    return page;
  }

  beforeAll(async () => {
    writeFileSync(join(dir, 'slides.html'), slides);
    writeFileSync(join(dir, 'handout.html'), handout);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true });
    // A Content Security Policy that forbids the page's own script would be one.
    expect(complaints).toEqual([]);
  });

  test.each([
    [1_280, 720],
    [1_024, 768],
  ])(
    'slides: each fits a projector of %i × %i with its answer unfolded, and nothing hides on its right',
    async (width, height) => {
      const page = await open('slides.html', width, height);
      const large = await page.evaluate(() => {
        for (const answer of document.querySelectorAll('details')) answer.open = true;
        const isLarge = (slide: Element) =>
          slide.clientHeight > innerHeight ||
          [slide, ...slide.querySelectorAll('.scroll')].some(
            ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
          );
        return [...document.querySelectorAll('.slide')].filter(isLarge).map(({ id }) => id);
      });

      expect(large).toEqual([]);
      await page.close();
    },
  );

  test.each([
    [1_280, 720],
    [1_024, 768],
  ])('slides: on a projector of %i × %i, code and reasons are large enough for the last row', async (width, height) => {
    const page = await open('slides.html', width, height);
    const small = await page.evaluate((least) => {
      for (const answer of document.querySelectorAll('details')) answer.open = true;
      return [...document.querySelectorAll('.diff span, .because li, .beyond dd, .staircase td, .legend')]
        .map((part) => ({
          id: part.closest('.slide')?.id,
          part: part.parentElement?.className,
          size: Number.parseFloat(getComputedStyle(part).fontSize),
        }))
        .filter(({ size }) => size < least);
    }, width / 65);

    expect(small).toEqual([]);
    await page.close();
  });

  test('slides: a line of code that goes on below begins deeper there, and no line is cut', async () => {
    const page = await open('slides.html', 1_024, 768);
    const lines = await page.evaluate(() =>
      [...document.querySelectorAll('.diff span')].map((line) => {
        const range = document.createRange();
        range.selectNodeContents(line);
        const [first] = range.getClientRects();
        const next = [...range.getClientRects()].find(({ top }) => first && top > first.bottom - 2);
        const { right } = line.getBoundingClientRect();
        const indent = (line.textContent ?? '').slice(1).search(/\S|$/);
        const charWidth = Number.parseFloat(getComputedStyle(line).fontSize) * 0.6;
        return {
          isCut: [...range.getClientRects()].some((part) => part.right > right + 1),
          deeper: first && next && (next.left - first.left) / charWidth - 1 - indent,
        };
      }),
    );
    const deeper = lines.flatMap((line) => line.deeper ?? []);

    expect(lines.filter(({ isCut }) => isCut)).toEqual([]);
    expect(deeper.length).toBeGreaterThan(3);
    expect(Math.min(...deeper)).toBeGreaterThan(3);
    await page.close();
  });

  test('slides: each picture of the staircase says what its signs mean', async () => {
    const page = await open('slides.html', 1_280, 720);
    const legends = await page.locator('.slide:has(.staircase) .legend').allTextContents();

    expect(legends).toHaveLength(stages.length);
    for (const legend of legends) expect(legend).toMatch(/✔.*holds.*✘.*fails.*·.*not taught.*–.*nothing to break/);
    await page.close();
  });

  test.each(['slides.html', 'handout.html'])(
    '%s: on a phone, the page itself does not scroll to the right',
    async (name) => {
      const page = await open(name, 400, 800);

      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(400);
      await page.close();
    },
  );

  test('slides: the keys go on and back, fold an answer out, and change the colours', async () => {
    const page = await open('slides.html', 1_280, 720);
    const at = () => page.evaluate(() => location.hash.slice(1));
    const [first, second] = stages;

    await page.keyboard.press('ArrowRight');
    expect(await at()).toBe(first?.name);
    await page.keyboard.press(' ');
    expect(await at()).toBe(`${first?.name}-${first?.questions[0]?.drill}`);
    const answer = page.locator('.slide').nth(2).locator('details');
    expect(await answer.evaluate((details: HTMLDetailsElement) => details.open)).toBe(false);
    await page.keyboard.press('a');
    expect(await answer.evaluate((details: HTMLDetailsElement) => details.open)).toBe(true);
    await page.keyboard.press('ArrowLeft');
    expect(await at()).toBe(first?.name);
    await page.keyboard.press('End');
    expect(await at()).toBe('end');
    await page.keyboard.press('Home');
    expect(await at()).toBe('start');

    await page.getByRole('link', { name: second?.title ?? '' }).click();
    await page.keyboard.press('ArrowRight');
    expect(await at()).toMatch(new RegExp(`^${second?.name}-code`));

    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await paper();
    await page.keyboard.press('t');
    expect(await paper()).not.toBe(before);
    await page.close();
  });

  test.each([
    ['handout.html', () => 1],
    ['slides.html', () => slides.split('<section class="slide"').length - 1],
  ])('%s: on paper, it has as many sheets as it should', async (name, sheets) => {
    const page = await open(name, 1_280, 720);
    const pdf = await page.pdf({ preferCSSPageSize: true });

    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(sheets());
    await page.close();
  });

  test.each(['slides.html', 'handout.html'])('%s: axe finds nothing', async (name) => {
    const page = await open(name, 1_280, 720);
    await page.evaluate(readFileSync(join(projectDir, 'node_modules/axe-core/axe.min.js'), 'utf8'));
    const { violations } = (await page.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };

    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    await page.close();
  });
});
