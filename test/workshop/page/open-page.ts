import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Drill } from '../../../loadtest/harness/drill.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { proveCell } from '../../../prove/cell.ts';
import { projectDir } from '../../../stack/parts.ts';
import { packPage } from '../../../workshop/page/pack.ts';
import type { Engine } from '../../../workshop/page/view/engine.ts';
import { launchBrowser } from '../browser.ts';
import { makeOwnFont } from '../own-font.ts';

/** The page as it is opened from the disk, without a network, by the tests of one file. It has nothing to complain of, and asks for nothing. */
export function ownPage() {
  const dir = mkdtempSync(join(tmpdir(), 'page-'));
  const address = pathToFileURL(join(dir, 'lockstep.html')).href;
  // How much has room depends on the font.
  const fonts = makeOwnFont();
  let browser: Browser;
  let complaints: string[] = [];

  beforeAll(async () => {
    writeFileSync(join(dir, 'lockstep.html'), await packPage());
    browser = await launchBrowser(fonts.file);
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(complaints).toEqual([]);
    complaints = [];
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true });
    fonts.remove();
  });

  return {
    address,
    async open(options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext({ offline: true, reducedMotion: 'reduce', ...options });
      context.setDefaultTimeout(120_000);
      // The page looks whether a lock has come to an end: when a test says so.
      await context.addInitScript(() => {
        const looks: (() => void)[] = [];
        Object.assign(globalThis, { looks, setInterval: (look: () => void) => looks.push(look) });
      });
      const page = await context.newPage();
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        if (!/^(blob|data):/.test(request.url()) && request.url().split('#')[0] !== address)
          complaints.push(request.url());
      });
      await page.goto(address);
      return page;
    },
  };
}

/** What the search says of a stage in a scope, in the page and in Node. */
export async function searchBoth(page: Page, stage: string, scope: string) {
  const size = { stage, scope, processes: 2 };
  const inPage = await page.evaluate(async (task) => {
    const { lockstep } = globalThis as unknown as { lockstep: Engine };
    const { verdict, why, states, schedules } = await lockstep.ask('search', task);
    return { verdict, why, states, schedules };
  }, size);
  const file = join(projectDir, `locks/${stage}.ts`);
  const { verdict, why, states, schedules } = await proveCell({
    ...size,
    file,
    sales: 1,
    masters: 0,
    budget: {},
  });
  return { inPage, inNode: { verdict, why, states, schedules } };
}

/** What the page and Node say of a cell: the verdict, the reasons and the log. */
export async function playBoth(page: Page, stage: string, drill: string) {
  const inPage = await page.evaluate(
    async (cell) => {
      const { lockstep } = globalThis as unknown as { lockstep: Engine };
      await lockstep.ready;
      const { record, log } = await lockstep.ask('play', cell);
      return { verdict: record.verdict, reasons: record.reasons, log };
    },
    { stage, drill },
  );
  const found = drills.find(({ name }) => name === drill) as Drill;
  const { outcome, log } = await playDrill(found, stage);
  return { inPage, inNode: { verdict: outcome.verdict, reasons: outcome.reasons, log } };
}
