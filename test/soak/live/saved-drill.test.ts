import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { hasBrowser, launchBrowser } from '../../live/browser.ts';
import { concurrentCommand } from '../../loadtest/commands/command-under-test.ts';

const drill = concurrentCommand('live/drill.ts', 1);
const dir = mkdtempSync(join(tmpdir(), 'saved-drill-'));
const file = join(dir, 'run.html');
afterAll(() => rmSync(dir, { recursive: true }));

describe.skipIf(!hasBrowser)('npm run drill -- --save (skipped where there is no Chromium)', () => {
  test('the file plays without a server and without a network, and each moment is as it was', async () => {
    await drill(['--stage', '3', '--drill', 'crashed-holder', '--save', file]);
    const browser = await launchBrowser();
    try {
      const context = await browser.newContext({ viewport: { width: 1_280, height: 720 }, reducedMotion: 'reduce' });
      await context.setOffline(true);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));

      await page.goto(pathToFileURL(file).href);

      // The first button plays, and has the focus.
      await page.keyboard.press('Space');
      await page.getByText(/fails, as taught/).waitFor({ timeout: 30_000 });
      expect(await page.locator('main h2').allInnerTexts()).toEqual(['Stage 3 · spin · crashed-holder']);
      expect(await page.locator('.saved svg rect').count()).toBeGreaterThan(0);
      await page
        .getByText(/is killed \(SIGKILL\)/)
        .first()
        .waitFor();
      const picture = page.locator('.picture');
      // Its end is that of the drill, before it was mended.
      expect(await picture.textContent()).toContain('dead');
      const moment = page.getByLabel('Moment of the run');
      await moment.fill('0');
      await page.getByText(/fails, as taught/).waitFor({ state: 'detached' });
      // It is no picture of the end alone: what happened on the way is in it.
      const last = Number(await moment.getAttribute('max'));
      const seen: string[] = [];
      let insideAtOnce = 0;
      for (let at = 0; at <= last; at += 50) {
        await moment.fill(String(at));
        seen.push((await picture.textContent()) ?? '');
        insideAtOnce = Math.max(insideAtOnce, await page.locator('.in-chip.is-inside').count());
      }
      expect(insideAtOnce).toBeGreaterThan(0);
      expect(seen[0]).not.toContain('dead');
      expect(seen.some((text) => text.includes('dead'))).toBe(true);
      expect(asked).toEqual([pathToFileURL(file).href]);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
