import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../exercises/workshop/state.ts';
import { hasBrowser } from '../../live/browser.ts';
import { failingWorkshop } from '../../live/failing-workshop.ts';
import { begin, button, choose, ownLivePage, play, says } from '../../live/live-page.ts';
import { whatDoesNotFit, windows } from './fits.ts';
import { makeOwnFont } from './own-font.ts';
import { violations } from './violations.ts';

/** The page of the presenter, and the phone of one who follows. */
interface Pages {
  page: Page;
  phone: Page;
}

const inPart = (page: Page, part: string, name: string) =>
  page.getByRole('group', { name: part, exact: true }).getByRole('button', { name, exact: true });

/** How the page comes to show what must fit. */
const states: Record<string, (pages: Pages) => Promise<unknown>> = {
  'before the first drill': async () => {},
  'a verdict': ({ page }) => play(page, '6-lua-release', 'nested-call'),
  async 'a verdict with the code'({ page }) {
    await play(page, '6-lua-release', 'nested-call');
    await page.locator('#tab-code-0').click();
  },
  'the figures of a rush': ({ page }) => play(page, '1-in-process', 'rush'),
  async 'a step that waits'({ page }) {
    await begin(page, '8-auto-renew', 'paused-process', 'Step by step');
    await says(page, /SIGSTOP/);
  },
  async 'two stages side by side'({ page }) {
    await page.locator('.check input').check();
    await play(page, '4-ttl', 'crashed-holder');
  },
  async 'free play, and much that is broken'({ page }) {
    await choose(page, '8-auto-renew');
    await button(page, 'Free play').click();
    await inPart(page, 'node-2', 'Hold a write').click();
    await inPart(page, 'node-2', 'Sell').click();
    await says(page, 'held');
    await inPart(page, 'node-1', 'Stop').click();
    await says(page, 'stopped');
    await inPart(page, 'redis', 'Stop').click();
    await inPart(page, 'redis', 'Go on').waitFor();
  },
  async 'a question that is open'({ page, phone }) {
    await choose(page, '4-ttl', 'slow-holder');
    await page.locator('#tab-predict-0').click();
    await page.keyboard.press('q');
    await phone.locator('.room-choice').nth(1).click();
    await says(page, '1 of 1 have voted.');
  },
  async 'its answer'({ page, phone }) {
    await choose(page, '4-ttl', 'slow-holder');
    await page.locator('#tab-predict-0').click();
    await page.keyboard.press('q');
    await phone.locator('.room-choice').nth(1).click();
    await play(page, '4-ttl', 'slow-holder');
    await page.keyboard.press('r');
    await says(phone, /is right\.$/);
  },
  async 'the scheduler'({ page }) {
    await page.locator('.orders button').nth(3).click();
    await page.getByLabel('Level').selectOption('6-lua-release/late-release');
    await says(page, /all [\d,]+ orders, none does it/);
  },
};

describe.skipIf(!hasBrowser)('the live page fits, in DejaVu (skipped where there is no Chromium)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'fits-'));
  const workshopFile = join(dir, 'workshop.json');
  let fonts: ReturnType<typeof makeOwnFont>;
  beforeAll(() => {
    fonts = makeOwnFont();
  });
  afterAll(() => {
    fonts.remove();
    rmSync(dir, { recursive: true });
  });
  const live = ownLivePage({
    args: ['--lease', '1000'],
    env: { WORKSHOP_STATE: workshopFile },
    fontsFile: () => fonts.file,
  });

  const openPages = async (): Promise<Pages> => ({ page: await live.presenter(), phone: await live.follower() });

  /** Nothing is cut, hidden or covered in any of these windows. */
  async function fits(pages: Pages) {
    const found: string[] = [];
    for (const [name, page] of Object.entries(pages)) {
      for (const [width, height] of name === 'phone' ? windows.slice(2) : windows) {
        await page.setViewportSize({ width, height });
        for (const problem of await whatDoesNotFit(page)) found.push(`${name}, ${width} wide: ${problem}`);
      }
    }
    expect(found).toEqual([]);
  }

  test.each(Object.keys(states))('%s', async (state) => {
    const pages = await openPages();
    await states[state]?.(pages);
    await fits(pages);
  });

  test.each(['light', 'dark'] as const)(
    'axe finds nothing, %s: the stack, the room, a workshop',
    async (colorScheme) => {
      const options = { colorScheme, bypassCSP: true };
      const opened = [await live.presenter(options), await live.follower(options)];
      for (const seen of opened) {
        await says(seen, /node-1/);
        expect(await violations(seen)).toEqual([]);
      }
      const pages = await openPages();
      writeState(failingWorkshop, workshopFile);
      try {
        for (const seen of [...opened, ...Object.values(pages)]) await seen.locator('main.is-reading').waitFor();
        for (const seen of opened) expect(await violations(seen)).toEqual([]);
        await fits(pages);
      } finally {
        rmSync(workshopFile);
      }
    },
  );
});
