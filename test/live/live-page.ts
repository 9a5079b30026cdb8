import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { type CommandUnderTest, startCommand } from '../loadtest/commands/command-under-test.ts';
import { launchBrowser } from './browser.ts';

/** How long a page may take on a busy machine, in milliseconds. It decides nothing but when a test gives up. */
const GIVES_UP_MS = 60_000;
/** An order that is refused, and a line that the server ends: the browser notes both. */
const expected = /ERR_INCOMPLETE_CHUNKED_ENCODING|status of 409/;

export interface LivePageOptions {
  args?: string[];
  env?: NodeJS.ProcessEnv;
  /** Names the fonts of the browser: a file of fontconfig. */
  fontsFile?: () => string;
}

/**
 * `npm run live` and a Chromium for the tests of one file. Each test finds the stack idle and nothing asked, and has pages of its own, which
 * have had nothing to complain of when it ends.
 */
export function ownLivePage({ args = [], env = {}, fontsFile }: LivePageOptions = {}) {
  let command: CommandUnderTest;
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  let address: URL;
  let roomAddress: string;
  let complaints: string[] = [];

  beforeAll(async () => {
    const file = 'live/live.ts';
    const ports = { LIVE_PORT: '0', LIVE_SHARE_PORT: '0' };
    command = startCommand(file, ['--share', ...args], { ...ports, ...env }, await bundledArgs(file));
    const [, printed = ''] = await command.prints(/The live page: (\S+)/);
    [, roomAddress = ''] = await command.prints(/The room follows at (\S+)/);
    address = new URL(printed);
    browser = await launchBrowser(fontsFile?.());
  });

  beforeEach(async () => {
    await post('/order', { do: 'stop' });
    await post('/order', { do: 'forget' });
    await post('/puzzle', { do: 'close' });
  });

  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(complaints.filter((text) => !expected.test(text))).toEqual([]);
    complaints = [];
  });

  afterAll(async () => {
    await browser?.close();
    command.child.kill('SIGINT');
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.stderr()).toBe('');
    command.remove();
  });

  /** Sends an order past the page. One that does not fit what goes on is refused, and that is as good. */
  async function post(path: string, order: object) {
    await fetch(new URL(path, address.origin), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${address.hash.slice(1)}` },
      body: JSON.stringify(order),
    });
  }

  async function open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1_280, height: 720 },
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(GIVES_UP_MS);
    const page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
    return page;
  }

  /** The page of the presenter. What was played before has been put back when it says so. */
  async function presenter(options?: BrowserContextOptions): Promise<Page> {
    const page = await open(address.href, options);
    await page.getByText('Ready.', { exact: true }).waitFor();
    return page;
  }

  return {
    open,
    presenter,
    follower: (options?: BrowserContextOptions) =>
      open(roomAddress, { viewport: { width: 400, height: 800 }, ...options }),
    address: () => address.href,
    roomAddress: () => roomAddress,
  };
}

export async function choose(page: Page, stage: string, drill?: string) {
  await page.getByRole('combobox', { name: /^Stage/ }).selectOption(stage);
  if (drill !== undefined) await page.getByRole('combobox', { name: /^Drill/ }).selectOption(drill);
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

export const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** Begins a drill, and resolves when what was said of the one before is gone. */
export async function begin(page: Page, stage: string, drill: string, how: 'Play' | 'Step by step' = 'Play') {
  await choose(page, stage, drill);
  const isBusy = await watchForBusy(page);
  await button(page, how).click();
  await isBusy();
}

/** From now on the page is watched. What it returns resolves when something has been begun, also when it is over already. */
async function watchForBusy(page: Page): Promise<() => Promise<void>> {
  const watched = await page.locator('.status').evaluateHandle((status) => ({
    isBusy: new Promise<void>((resolve) => {
      const look = () => status.classList.contains('is-ready') || resolve();
      new MutationObserver(look).observe(status, { attributes: true });
    }),
  }));
  return () => watched.evaluate(({ isBusy }) => isBusy);
}

/** Plays a drill to its verdict, and resolves with what the page says of it. */
export async function play(page: Page, stage: string, drill: string): Promise<string> {
  await begin(page, stage, drill);
  await button(page, 'Play').waitFor();
  return ((await page.locator('.verdict').first().textContent()) ?? '').replace(/\s+/g, ' ').trim();
}

export const headings = (page: Page) => page.locator('main .stack h2').allInnerTexts();
