import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { texts } from '../../live/texts/en.ts';
import { storyOf } from '../../loadtest/commands/tracks.ts';
import { taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { locks } from '../../locks/index.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { type CommandUnderTest, leavesNothing, startCommand } from '../loadtest/commands/command-under-test.ts';
import { hasBrowser, launchBrowser } from './browser.ts';

const story = storyOf('locks', Object.keys(locks)).map(({ stage, drill }) => ({
  stage,
  drill: drill.name,
  taught: taughtVerdict(stage, drill.name),
}));
/** Each drill with each verdict that is taught of it, under the first stage that gives it. */
const cells = story.filter(
  (cell, at) => story.findIndex(({ drill, taught }) => drill === cell.drill && taught === cell.taught) === at,
);
/** How often a drill is played that the machine was too busy for: it comes out as unknown, and proves nothing. */
const TRIES = 3;
const PLAY_LIMIT_MS = 120_000;

describe.skipIf(!hasBrowser)(
  'the story, played from the page: the verdicts of npm run drill (skipped where there is no Chromium)',
  () => {
    let command: CommandUnderTest;
    let browser: Browser;
    let page: Page;

    const button = (name: string) => page.getByRole('button', { name, exact: true });

    beforeAll(async () => {
      const file = 'live/live.ts';
      const env = { LIVE_PORT: String(await freePort()) };
      command = startCommand(file, ['--lease', '1000'], env, await bundledArgs(file));
      const [, address = ''] = await command.prints(/The live page: (\S+)/);
      browser = await launchBrowser();
      page = await browser.newPage({ viewport: { width: 1_280, height: 720 }, reducedMotion: 'reduce' });
      await page.goto(address);
      await button('Play').waitFor({ timeout: PLAY_LIMIT_MS });
    });

    afterAll(async () => {
      await browser?.close();
      command.child.kill('SIGINT');
      expect(await command.ended).toEqual({ code: 0, signal: null });
      expect(command.stderr()).toBe('');
      await leavesNothing(command);
      command.remove();
    });

    /** Plays a drill, and resolves with what the page says of it. */
    async function play(stage: string, drill: string): Promise<string> {
      await page.getByRole('combobox', { name: /^Stage/ }).selectOption(stage);
      await page.getByRole('combobox', { name: /^Drill/ }).selectOption(drill);
      await button('Play').click();
      await button('Stop').waitFor();
      await button('Play').waitFor({ timeout: PLAY_LIMIT_MS });
      return ((await page.locator('.verdict').first().textContent()) ?? '').replace(/\s+/g, ' ');
    }

    test('no drill of the story is left out, and none without a verdict that is taught', () => {
      expect(new Set(cells.map(({ drill }) => drill))).toEqual(new Set(story.map(({ drill }) => drill)));
      expect(story.filter(({ taught }) => taught === null)).toEqual([]);
    });

    test.each(cells)('$stage, $drill', async ({ stage, drill, taught }) => {
      let said = await play(stage, drill);
      for (let tries = 1; tries < TRIES && said.startsWith('?'); tries += 1) said = await play(stage, drill);

      const { sign, word } = texts.verdict[taught ?? 'unknown'];
      expect(said).toContain(`${sign} ${word}, as taught`);
      expect(await page.locator('main h2').allInnerTexts()).toHaveLength(1);
    });
  },
);
