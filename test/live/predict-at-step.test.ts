import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { type CommandUnderTest, leavesNothing, startCommand } from '../loadtest/commands/command-under-test.ts';
import { hasBrowser, launchBrowser } from './browser.ts';

const LIMIT_MS = 60_000;

describe.skipIf(!hasBrowser)(
  'a question at a step of a drill, in a browser (skipped where there is no Chromium)',
  () => {
    let command: CommandUnderTest;
    let browser: Browser;
    let page: Page;
    let phone: Page;

    beforeAll(async () => {
      const file = 'live/live.ts';
      const env = { LIVE_PORT: String(await freePort()), LIVE_SHARE_PORT: String(await freePort()) };
      command = startCommand(file, ['--share', '--lease', '1000'], env, await bundledArgs(file));
      const [, address = ''] = await command.prints(/The live page: (\S+)/);
      const [, roomAddress = ''] = await command.prints(/The room follows at (\S+)/);
      browser = await launchBrowser();
      page = await browser.newPage({ viewport: { width: 1_280, height: 720 }, reducedMotion: 'reduce' });
      await page.goto(address);
      phone = await browser.newPage({ viewport: { width: 400, height: 800 }, reducedMotion: 'reduce' });
      await phone.goto(roomAddress);
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor({ timeout: LIMIT_MS });
    });

    afterAll(async () => {
      await browser?.close();
      command.child.kill('SIGINT');
      expect(await command.ended).toEqual({ code: 0, signal: null });
      expect(command.stderr()).toBe('');
      await leavesNothing(command);
      command.remove();
    });

    const question = (on: Page) => on.getByText(/What does it do when it arrives\?/);

    /** Opens a tab, and presses a key when it is drawn and the browser has not yet shown it. */
    const pressAsSoonAsDrawn = (tab: string, key: string) =>
      page.evaluate(
        async ([tab, key]) => {
          document.getElementById(`tab-${tab}-0`)?.click();
          // It is drawn in a microtask.
          await undefined;
          if (document.querySelector(`.panel.of-${tab}`) === null) throw new Error(`${tab} is not drawn.`);
          document.dispatchEvent(new KeyboardEvent('keydown', { key }));
        },
        [tab, key] as const,
      );

    async function begin(how: 'Play' | 'Step by step') {
      await page.getByRole('combobox', { name: /^Stage/ }).selectOption('5-owner-check');
      await page.getByRole('combobox', { name: /^Drill/ }).selectOption('late-release');
      await page.getByRole('button', { name: how, exact: true }).click();
      await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    }

    test('played as it happens, nobody is asked', async () => {
      await begin('Play');
      await page.getByText(/fails, as taught/).waitFor({ timeout: LIMIT_MS });
      expect(await question(page).count()).toBe(0);
      expect(await question(phone).count()).toBe(0);
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor({ timeout: LIMIT_MS });
    });

    test('q asks while the story is read and the list of drills has the focus, and opens the tab', async () => {
      await page.getByRole('combobox', { name: /^Stage/ }).selectOption('1-in-process');
      const drills = page.getByRole('combobox', { name: /^Drill/ });
      await drills.selectOption('rush');
      await page.getByRole('tab', { name: 'Story' }).click();
      await drills.focus();
      await page.keyboard.press('q');
      await phone.getByText(/2,000 buyers come to two nodes/).waitFor();
      await page.getByText('Votes are open.').waitFor();
      expect(await drills.inputValue()).toBe('rush');
      expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('SELECT');
      await pressAsSoonAsDrawn('story', 'c');
      await phone.getByText('Votes are closed.', { exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Story' }).click();
      await pressAsSoonAsDrawn('predict', 'x');
      await phone.getByText('The next question appears here.').waitFor();
    });

    test('step by step it stops, asks, takes votes, goes on, and shows what happened', async () => {
      await begin('Step by step');
      await question(page).waitFor({ timeout: LIMIT_MS });
      await page.getByText('Waits for you.').waitFor();
      // What has just happened stands above it.
      expect(await page.locator('.now').textContent()).toMatch(/release is held up/);
      // The command is held: what it does is still to come.
      expect(await page.locator('.picture').textContent()).toMatch(/held/);
      expect(await page.locator('.verdict').count()).toBe(0);
      await question(phone).waitFor();
      await phone.locator('.room-choice').nth(1).click();
      await page.getByText('1 of 1 have voted.').waitFor();

      await page.keyboard.press('Space');
      await phone.getByText('Votes are closed.', { exact: true }).waitFor();
      expect(await phone.locator('.room-choice:enabled').count()).toBe(0);
      const verdict = page.getByText(/fails, as taught/);
      // On a busy machine the drill is played once more, and stops once more.
      while ((await verdict.count()) === 0) {
        await page.keyboard.press('Space');
        await page.waitForTimeout(250);
      }
      await page.getByRole('tab', { name: 'Predict' }).click();
      await page.keyboard.press('r');
      await phone.getByText('You were right.').waitFor();
      await phone.getByText(/The lock failed\. The late release deleted the lock/).waitFor();
    });
  },
);
