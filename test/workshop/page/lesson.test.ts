import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { lessons } from '../../../workshop/picture/lessons.ts';
import { violations } from '../../soak/workshop/violations.ts';
import { hasBrowser } from '../browser.ts';
import { ownPage } from './open-page.ts';

/** What each step is called at its end, under the stage before and under its own: whether the drill failed. */
const FAILS = [[true], [true, false], [true, false], [false, false], ...Array(6).fill([true, false])] as boolean[][];

describe.skipIf(!hasBrowser)('the lesson (skipped where there is no Chromium)', () => {
  const own = ownPage();

  /** Of what is seen first: how far it reaches beyond the screen, in pixels. */
  const overflow = (page: Page) =>
    page.evaluate(() => {
      const parts = [...document.querySelectorAll('.said p, .canvas, .lanes, .controls, .ask > *')];
      const lowest = Math.max(...parts.map((part) => part.getBoundingClientRect().bottom));
      const said = [...document.querySelectorAll('.said')].map((part) => part.scrollHeight - part.clientHeight);
      const { scrollWidth } = document.documentElement;
      const below = Math.max(0, Math.ceil(lowest) - innerHeight);
      return { below, beside: Math.max(0, scrollWidth - innerWidth), said: Math.max(0, ...said) };
    });
  const nothing = { below: 0, beside: 0, said: 0 };
  /** Goes through all beats of what is shown, from its beginning to its end: each is where it was asked for, and fits. */
  async function toEnd(page: Page, what: string) {
    await page.locator('.controls > button:first-child:enabled').waitFor();
    await page.keyboard.press('Home');
    const forward = page.getByRole('button', { name: 'One step forward' });
    for (let at = 1; (await forward.getAttribute('aria-disabled')) === 'false'; at += 1) {
      await page.keyboard.press('ArrowRight');
      // Each beat is met, one after the other.
      await page.waitForFunction((beat) => location.hash.endsWith(`at=${beat}`), at);
      expect(await overflow(page), what).toEqual(nothing);
    }
  }

  test('by keys alone one goes through all steps: nothing plays before an answer, and in no beat does one have to scroll', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    const found = [];
    for (const [number, { stage, answers, right }] of lessons.entries()) {
      await page.locator('nav [aria-current]', { hasText: String(number) }).waitFor();
      expect(await page.locator('.controls button').first().isEnabled()).toBe(false);
      expect(await page.locator('.switch em').count()).toBe(0);
      const chosen = (right + 1) % answers.length;
      await page.keyboard.press(String(chosen + 1));
      await page.getByText(answers[chosen]?.why[0] ?? '').waitFor();
      expect(await page.locator('.answer input:enabled').count()).toBe(0);
      const sides = [];
      for (const side of number === 0 ? ['now'] : ['before', 'now']) {
        if (side === 'now' && number > 0) await page.keyboard.press('b');
        await page
          .locator(`.switch [aria-pressed=true]`, { hasText: side === 'now' ? /Now|2 buyers/ : 'Before' })
          .waitFor();
        await toEnd(page, `${stage} ${side}`);
        sides.push(await page.locator('.show:not(.other) .said.bad').isVisible());
        if (number === 8) expect(await violations(page), stage).toEqual([]);
      }
      found.push(sides);
      if (number < lessons.length - 1) await page.keyboard.press('n');
    }
    expect(found).toEqual(FAILS);
    expect(await page.locator('nav em').count()).toBe(lessons.length);
  });

  test('Back leads to the step before; reloaded, the page is in the same step, language and moment; sixty buyers; the words', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    await page.locator('.question').waitFor();
    await page.keyboard.press('2');
    await page.getByRole('button', { name: '60 buyers' }).first().click();
    await page.locator('.controls > button:first-child:enabled').waitFor();
    await page.locator('.said', { hasText: /60 units are in stock|buyers? paid/ }).waitFor();
    await page.keyboard.press('End');
    await page.locator('.said.bad', { hasText: /60 buyers paid\. The stock fell by \d+\./ }).waitFor();
    await page.keyboard.press('n');
    await page.locator('.question', { hasText: 'node-1' }).waitFor();
    await page.keyboard.press('1');
    await page.getByRole('button', { name: '中文' }).click();
    await page.keyboard.press('d');
    await page.waitForFunction(() => /#\/1\?lang=zh&side=before&at=\d/.test(location.hash));
    const said = await page.locator('.said').first().textContent();
    await page.reload();
    await page.locator('.canvas svg').waitFor();
    expect(await page.locator('.said').first().textContent()).toBe(said);
    await page.getByRole('button', { name: '术语和按键' }).click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.goBack();
    await page.locator('nav [aria-current]', { hasText: '0' }).waitFor();
  });

  test('moving: an answer that comes before the shop has opened plays it, it stops at the ◆, and one goes back beat by beat', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, reducedMotion: 'no-preference' });
    await page.locator('.question').waitFor();
    await page.keyboard.press('2');
    for (const at of [3, 2, 1, 0]) {
      await page.waitForFunction((beat) => location.hash.endsWith(`at=${beat}`), at);
      await page.keyboard.press('ArrowLeft');
    }
  });

  test("one's own hand: a sale that takes longer than its lease fails under stage 7 and holds under 8; its page can be copied", async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    await page.goto(`${own.address}#/8`);
    await page.locator('.question', { hasText: '900 ms' }).waitFor();
    await page.keyboard.press('2');
    await page.getByRole('button', { name: 'Try it' }).click();
    const verdicts = () => page.locator('.switch em').allInnerTexts();
    const takes = page.getByRole('slider', { name: 'A sale takes' });
    await takes.fill('300');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.switch em')].every((each) => each.textContent === '✔'),
    );
    await takes.fill('900');
    await page.waitForFunction(() => document.querySelector('.switch em')?.textContent === '✘');
    expect(await verdicts()).toEqual(['✘', '✔']);
    expect(await overflow(page)).toEqual(nothing);
    await page.getByRole('button', { name: 'As text' }).click();
    await page.locator('dialog[open] pre', { hasText: 'the next sales at node-1 take 900 ms each' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test('break it: by keys alone a unit is sold twice, and the page counts the interleavings that sell one twice', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    await page.goto(`${own.address}#/1/break`);
    await page.locator('.moves button').focus();
    for (const key of '112211') {
      const moves = await page.locator('.moves').textContent();
      await page.keyboard.press(key);
      await page.waitForFunction((before) => document.querySelector('.moves')?.textContent !== before, moves);
    }
    await page.getByText('It breaks in 6 of 10 interleavings.').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('u');
    await page.locator('.moves button').first().waitFor();
  });

  test('a phone in Chinese, dark: the first screen has the picture, the result, the question and why; nothing is wider than the screen', async () => {
    const page = await own.open({
      viewport: { width: 390, height: 844 },
      bypassCSP: true,
      colorScheme: 'dark',
      locale: 'zh-CN',
    });
    for (const [number, { answers }] of lessons.entries()) {
      await page.goto(`${own.address}#/${number}`);
      await page.locator('nav [aria-current]', { hasText: String(number) }).waitFor();
      await page.getByRole('radio', { name: answers[number % 2]?.text[1] ?? '' }).check();
      await page.locator('.controls > button:first-child:enabled').waitFor();
      await page.keyboard.press('End');
      await page.waitForFunction(() => location.hash.includes('at='));
      expect(await overflow(page), String(number)).toEqual(nothing);
    }
    expect(await violations(page)).toEqual([]);
    await page.goto(`${own.address}#/turn`);
    await page.locator('.cm-content').first().waitFor();
    expect((await overflow(page)).beside).toBe(0);
  });
});
