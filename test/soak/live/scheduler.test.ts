import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stageChoices } from '../../../live/server/choices.ts';
import { makePage } from '../../../live/server/page-files.ts';
import { createPresenterApp } from '../../../live/server/presenter.ts';
import { levels } from '../../../live/server/puzzle/levels.ts';
import { createPuzzle } from '../../../live/server/puzzle.ts';
import { createStream } from '../../../live/server/stream.ts';
import { hasBrowser, launchBrowser } from '../../live/browser.ts';

const TOKEN = 'the-token-of-this-test';

/** A plan for each level that can be broken: what the player lets happen, in the words of the page. */
const plans: Record<string, { moves: string[]; thenGoesOn?: boolean; broken: RegExp }> = {
  '3-spin/crashed-holder': {
    moves: ['A begins a sale', "A's SET lock reaches Redis", 'A is killed'],
    thenGoesOn: true,
    broken: /^Broken: Nobody has entered within two leases \(1800 ms\) of the crash\./,
  },
  '4-ttl/slow-holder': {
    moves: [
      'A begins a sale',
      "A's SET lock reaches Redis",
      "A's GET stock reaches Redis",
      'A is paused',
      'The lease of A ends: 901 ms pass',
      'A wakes up',
      'B begins a sale',
      "B's SET lock reaches Redis",
      "A's SET stock reaches Redis",
      "A's DEL lock reaches Redis",
    ],
    broken: /^Broken: A changes the lock of B, which is inside and within its lease\./,
  },
  '5-owner-check/late-release': {
    moves: [
      'A begins a sale',
      "A's SET lock reaches Redis",
      "A's GET stock reaches Redis",
      "A's SET stock reaches Redis",
      "A's GET lock reaches Redis",
      "A's DEL lock is held up on its way",
      'The lease of A ends: 901 ms pass',
      'B begins a sale',
      "B's SET lock reaches Redis",
      "A's DEL lock, held up until now, reaches Redis",
    ],
    broken: /^Broken: A changes the lock of B, which is inside and within its lease\./,
  },
  '7-reentrant/paused-process': {
    moves: [
      'A begins a sale',
      "A's acquire-reentrant reaches Redis",
      "A's GET stock reaches Redis",
      'A is paused',
      'The lease of A ends: 901 ms pass',
      'B begins a sale',
      "B's acquire-reentrant reaches Redis",
      "B's GET stock reaches Redis",
      "B's SET stock reaches Redis",
      "B's release-reentrant reaches Redis",
      'A wakes up',
      "A's SET stock reaches Redis",
      "A's release-reentrant reaches Redis",
    ],
    broken: /^Broken: 2 were sold of 10, and 9 are left: 1 lost\./,
  },
  '8-auto-renew/late-write': {
    moves: [
      'A begins a sale',
      "A's acquire-reentrant reaches Redis",
      "A's GET stock reaches Redis",
      "A's SET stock is held up on its way",
      ...Array.from({ length: 3 }, () => ['A timer of A is due: 300 ms pass', 'A timer of A fires']).flat(),
      'The lease of A ends: 1 ms pass',
      'B begins a sale',
      "B's acquire-reentrant reaches Redis",
      "B's GET stock reaches Redis",
      "B's SET stock reaches Redis",
      "A's SET stock, held up until now, reaches Redis",
      "A's renew-if-owner reaches Redis",
      "A's renew-if-owner reaches Redis",
      "A's renew-if-owner reaches Redis",
      "A's release-reentrant reaches Redis",
      "B's release-reentrant reaches Redis",
    ],
    broken: /^Broken: 2 were sold of 10, and 9 are left: 1 lost\./,
  },
};

describe.skipIf(!hasBrowser)('you are the scheduler, in a browser (skipped where there is no Chromium)', () => {
  const bugs: unknown[] = [];
  const complaints: string[] = [];
  const puzzle = createPuzzle({ onChange: () => stream.changed() });
  const stream = createStream({
    choices: stageChoices(),
    read: () => ({ play: { is: 'ready', trouble: null }, controls: null, views: [], puzzle: puzzle.read() }),
  });
  const server = createServer();
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    // Its threads are bundled first: esbuild is stopped when a bundle is made.
    await puzzle.settled();
    const { files } = await makePage();
    server.on(
      'request',
      createPresenterApp({
        files,
        token: TOKEN,
        stream,
        order: async () => {},
        orderPuzzle: puzzle.order,
        onBug: (error) => bugs.push(error),
      }),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1_280, height: 720 }, reducedMotion: 'reduce' });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/#${TOKEN}`);
    await page.getByRole('button', { name: 'Scheduler' }).click();
  });

  afterAll(async () => {
    await browser?.close();
    await puzzle.close();
    stream.end();
    server.close();
    server.closeAllConnections();
    expect([...bugs, ...complaints]).toEqual([]);
  });

  const steps = (count: number) =>
    page.getByText(count === 0 ? 'Steps so far' : `Steps so far: ${count}`, { exact: true }).waitFor();
  const open = async (level: string) => {
    const close = page.getByRole('button', { name: 'Close' });
    if ((await close.count()) > 0) await close.click();
    await close.waitFor({ state: 'detached' });
    await page.getByLabel('Level').selectOption(level);
    await page.getByText(/^The search knows: /).waitFor();
    // A digit that is typed into the list chooses in it.
    await page.getByRole('heading', { name: 'You are the scheduler' }).click();
  };

  /** The button that says so, by itself: one that is not there, or twice, ends the test. */
  async function choose(text: string, by: 'mouse' | 'keyboard') {
    const button = page.locator('.puzzle-move').filter({ hasText: text });
    if (by === 'mouse') return button.click();
    await page.keyboard.press((await button.locator('kbd').textContent())?.trim() ?? '');
  }

  test.each(Object.entries(plans))('%s is won by a plan', async (level, { moves, thenGoesOn, broken }) => {
    await open(level);
    await page.getByText(/it can be done, in \d+ steps at best/).waitFor();
    for (const [made, text] of moves.entries()) {
      await steps(made);
      expect(await page.locator('.puzzle-banner').count()).toBe(0);
      await choose(text, made % 2 === 0 ? 'mouse' : 'keyboard');
    }
    if (thenGoesOn) {
      await steps(moves.length);
      await page.keyboard.press('g');
    }
    const banner = page.locator('.puzzle-banner.is-won');
    await banner.waitFor();

    expect(await banner.textContent()).toMatch(broken);
    expect(await banner.textContent()).toContain('without a hint');
    expect(await page.locator('.puzzle-move').count()).toBe(0);
  });

  test('a plan that misses its moment breaks nothing, and the way back is shown', async () => {
    await open('4-ttl/slow-holder');
    await choose('A begins a sale', 'mouse');
    // For as long as there is a choice the first is taken: nobody is paused.
    for (let made = 1; (await page.locator('.puzzle-banner').count()) === 0; made += 1) {
      await steps(made);
      if ((await page.locator('.puzzle-move').count()) === 0) break;
      await page.locator('.puzzle-move').filter({ hasNotText: 'is paused' }).first().click();
    }

    expect(await page.locator('.puzzle-banner').textContent()).toMatch(
      /nothing was broken\. Go back, or begin again\.$/,
    );
    await page.keyboard.press('h');
    await page.getByText(/^From here it can’t be done: go back \d+ steps?\.$/).waitFor();
  });

  test.each(levels.filter(({ expects }) => expects === 'holds').map(({ choice }) => choice.name))(
    '%s is shown as impossible',
    async (level) => {
      await open(level);
      const { game } = puzzle.read();
      if (game?.knows.is !== 'holds') throw new Error(`The search says ${game?.knows.is}.`);

      await page.getByText(`The search knows: all ${game.knows.orders} orders, none does it`).waitFor();
      await page.keyboard.press('h');
      await page.getByText('There is no hint: no order does it.').waitFor();
    },
  );
});
