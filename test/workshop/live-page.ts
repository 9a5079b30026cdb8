import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { bundledArgs } from '../../stack/bundle.ts';
import { type CommandUnderTest, startCommand } from '../scripts/command-under-test.ts';
import { launchBrowser } from './browser.ts';

/** How long a page may take on a busy machine, in milliseconds. It decides nothing but when a test gives up. */
const GIVES_UP_MS = 60_000;
/** What is refused, and a line that the server ends: the browser notes both. */
const expected = /ERR_INCOMPLETE_CHUNKED_ENCODING|status of (403|409)/;

/**
 * `npm run live` and a Chromium for the tests of one file, each with pages of its own, which have had nothing to complain of when it ends.
 */
export function ownLivePage(...args: string[]) {
  let command: CommandUnderTest;
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  let address: URL;
  let roomAddress: string;
  let complaints: string[] = [];

  beforeAll(async () => {
    const file = 'scripts/live.ts';
    const ports = { LIVE_PORT: '0', LIVE_SHARE_PORT: '0' };
    command = startCommand(file, ['--share', ...args], ports, await bundledArgs(file));
    const [, printed = ''] = await command.prints(/The live page: (\S+)/);
    [, roomAddress = ''] = await command.prints(/Attendees follow at (\S+)/);
    address = new URL(printed);
    browser = await launchBrowser();
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

  async function open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1_280, height: 720 },
      reducedMotion: 'reduce',
      bypassCSP: true,
      ...options,
    });
    context.setDefaultTimeout(GIVES_UP_MS);
    const page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
    return page;
  }

  return {
    open,
    presenter: () => open(address.href),
    follower: () => open(roomAddress, { viewport: { width: 390, height: 844 } }),
    address: () => address.href,
    roomAddress: () => roomAddress,
  };
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
