import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { lessons } from '../../../workshop/page/view/lessons.ts';
import { violations } from '../../soak/workshop/violations.ts';
import { hasBrowser } from '../browser.ts';
import { ownPage } from './open-page.ts';

/** How many units are sold and still in stock at the end of each step, under the stage before and under its own. */
const LOST = [[54], [56, 0], [22, 0], [0, 0], [0, 0], [3, 1], [2, 0], [4, 0], [1, 0]];

describe.skipIf(!hasBrowser)('the lesson (skipped where there is no Chromium)', () => {
  const own = ownPage();

  const outcomes = (page: Page) => page.locator('.outcome');
  const lostIn = (text: string) => Number(/(\d+) sold and still/.exec(text)?.[1] ?? 0);
  const sentences = (page: Page) =>
    page.locator('.line').evaluateAll((all) =>
      all.map((each) => {
        const { textContent } = each.querySelector('.said:not(.not)') ?? each;
        return { height: each.clientHeight, isEmpty: textContent === '' };
      }),
    );
  const isWide = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

  test('it is opened, and loses units; by keys alone one goes through all steps, and each says what it costs the shop', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    const found = [];
    await outcomes(page).first().waitFor();
    for (const { stage } of lessons) {
      await page.locator('.code h2', { hasText: stage }).waitFor();
      await page.locator('.controls .main:enabled').first().waitFor();
      // A key that is pressed as the run arrives is still of the one before.
      while (!(await outcomes(page).first().isVisible())) await page.keyboard.press('End');
      found.push((await outcomes(page).allInnerTexts()).map(lostIn));
      // One run, and two of them; those between look as the last.
      if (/^[08]/.test(stage)) expect(await violations(page), stage).toEqual([]);
      const atEnd = await sentences(page);
      await page.keyboard.press('Home');
      await outcomes(page).first().waitFor({ state: 'detached' });
      // From the first moment there is a sentence, and room for the longest.
      expect(await sentences(page), stage).toEqual(atEnd.map((each) => ({ ...each, isEmpty: false })));
      if (stage !== lessons.at(-1)?.stage) await page.getByRole('button', { name: /^Next/ }).press('Enter');
    }
    expect(found).toEqual(LOST);
  });

  test('the scheduler: by keys alone one unit is lost, and the page counts the orders that lose one', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    await page.getByRole('button', { name: 'You are the scheduler' }).press('Enter');
    await page.getByRole('combobox').selectOption('1-in-process');
    await page.locator('.code h2', { hasText: '1-in-process' }).waitFor();
    await page.locator('.moves button').focus();
    for (const key of '112211') {
      const moves = await page.locator('.moves').textContent();
      await page.keyboard.press(key);
      await page.waitForFunction((before) => document.querySelector('.moves')?.textContent !== before, moves);
    }
    await page.getByText('These steps can come in 10 orders. In 6 of them it is broken').waitFor();
    expect(await page.locator('.code mark').count()).toBeGreaterThan(0);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('u');
    await page.locator('.moves button').first().waitFor();
  });

  test('a phone: in Chinese nothing is wider than the screen, and what was predicted is judged', async () => {
    const page = await own.open({ viewport: { width: 390, height: 844 }, bypassCSP: true, colorScheme: 'dark' });
    await page.getByRole('button', { name: '中文' }).click();
    for (const [number, { answers }] of lessons.entries()) {
      await page.getByRole('button', { name: `第 ${number} 步` }).click();
      await page.getByRole('radio', { name: answers[number % 2]?.[1] ?? '' }).check();
      await page.locator('.controls .main:enabled').first().waitFor();
      await page.getByRole('slider').press('End');

      await page.getByText(number % 2 === 0 ? '你猜对了。' : '和你猜的不同。').waitFor();
      expect(await isWide(page)).toBe(false);
    }
    expect(await violations(page)).toEqual([]);
    for (const [part, there] of [
      ['你来调度', '.moves button'],
      ['轮到你', '.cm-content'],
    ] as const) {
      await page.getByRole('button', { name: part }).first().click();
      await page.locator(there).first().waitFor();
      expect(await isWide(page)).toBe(false);
    }
  });
});
