import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handoutPage } from '../../../../workshop/teaching/handout-page.ts';
import { hasBrowser, launchBrowser } from '../../../workshop/browser.ts';
import { makeOwnFont } from '../../../workshop/own-font.ts';
import { violations } from '../violations.ts';

describe.skipIf(!hasBrowser)('the handout, in DejaVu (skipped where there is no Chromium)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'teaching-'));
  const fonts = makeOwnFont();
  const complaints: string[] = [];
  let browser: Browser;
  beforeAll(async () => {
    for (const language of ['en', 'zh-CN'] as const)
      writeFileSync(join(dir, `${language}.html`), handoutPage(language));
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

  test.each(['en.html', 'zh-CN.html'])(
    '%s: one sheet of paper; on a phone it does not scroll to the right; axe finds nothing',
    async (name) => {
      const pdf = await (await open(name, [1_280, 720])).pdf({ preferCSSPageSize: true });
      expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);

      const onPhone = await open(name, [400, 800]);
      expect(await onPhone.evaluate(() => document.documentElement.scrollWidth)).toBe(400);
      expect(await violations(await open(name, [1_280, 720], { bypassCSP: true }))).toEqual([]);
    },
  );
});
