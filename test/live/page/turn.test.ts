import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { violations } from '../../soak/live/violations.ts';
import { hasBrowser } from '../browser.ts';
import { button } from '../live-page.ts';
import { ownPage } from './open-page.ts';

const solution = readFileSync(join(projectDir, 'exercises/05-owner-check/solution.ts'), 'utf8');
const endless = 'export const createLock = () => ({ async acquire() { for (;;) {} }, async release() {} });';

describe.skipIf(!hasBrowser)('your turn (skipped where there is no Chromium)', () => {
  const own = ownPage();
  const says = (page: Page, text: RegExp) => page.locator('.write [role=status]', { hasText: text }).waitFor();

  async function take(page: Page, text: string) {
    const file = { name: 'lock.ts', mimeType: 'text/plain', buffer: Buffer.from(text) };
    await page.locator('input[type=file]').setInputFiles(file);
    await says(page, /It does not run before/);
  }

  /** Plays all scenarios until the time of one is up. */
  const playTooLong = (page: Page) =>
    page.waitForFunction(() => {
      const { looks } = globalThis as unknown as { looks: (() => void)[] };
      document.querySelector<HTMLElement>('.write button.main')?.click();
      for (let time = 0; time < 100; time += 1) for (const look of looks) look();
      return /Nobody knows/.test(document.querySelector('.write [role=status]')?.textContent ?? '');
    });

  test('nothing runs before one plays; a lock that never ends is ended, and the page goes on; the solution is judged, and kept', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    await button(page, 'Your turn').click();
    await page.getByRole('combobox').selectOption('05-owner-check');

    // The second would answer the page in the name of the lab.
    for (const [text, problem] of [
      ['const half = (', /can't be played: Unexpected token \(line 1\)/],
      ['postMessage({ id: 1, value: {} }); export const createLock = () => {};', /can't be played: postMessage is not/],
    ] as const) {
      await take(page, text);
      await button(page, 'Play all scenarios').click();
      await says(page, problem);
    }
    // A right lock, too, may come to no end on a busy machine: that is no verdict.
    for (const text of [endless, solution]) {
      await take(page, text);
      await playTooLong(page);
      expect(await page.locator('.write [role=status]').getAttribute('class')).toBe('outcome');
      expect(await page.getByText('✔ Solved', { exact: true }).count()).toBe(0);
    }
    // What fills the memory ends a process that is not the page's.
    const browser = await page.context().browser()?.newBrowserCDPSession();
    const targets = await browser?.send('Target.getTargets');
    expect(targets?.targetInfos.map(({ type }) => type)).toContain('iframe');

    // What is judged is the text that stands there, not those before, which nobody waits for.
    for (const text of [solution, endless]) {
      await take(page, text);
      await button(page, 'Play all scenarios').click();
    }
    await button(page, 'Reset').click();
    await button(page, 'Play all scenarios').click();
    await says(page, /Not yet: slow-holder\. Questions asked: 4/);
    expect(await page.getByText('✔ Solved', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: '✘ every order: slow-holder' }).click();
    await page.getByRole('slider').press('End');
    await page.getByText(/^A: DEL lock/).waitFor();
    await page.getByRole('button', { name: '✘ slow-holder' }).click();
    await page.getByRole('slider').press('End');
    await page.getByText('all sales end', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);

    await take(page, solution);
    await button(page, 'Play all scenarios').click();
    await says(page, /Solved\./);
    await page.reload();
    await button(page, 'Your turn').click();
    await page.getByRole('combobox').selectOption('05-owner-check');
    await page.getByText('Solution', { exact: true }).click();
    await page.getByText('✔ Solved', { exact: true }).waitFor();
    expect(await page.locator('.cm-content').textContent()).toContain('ownerToken, ');
  });
});
