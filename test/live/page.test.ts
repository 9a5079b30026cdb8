import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';

import { writeState } from '../../exercises/workshop/state.ts';
import { hasBrowser } from './browser.ts';
import { failingWorkshop } from './failing-workshop.ts';
import { button, choose, headings, ownLivePage, play, says } from './live-page.ts';

/** What is said of a drill that holds. On a machine that stands still again and again nothing is concluded. */
const CONCLUDED = /holds, as expected|The machine was too busy/;

// Every verdict, played from the page, rushes, two stages side by side, and what fits: test/soak/live.
describe.skipIf(!hasBrowser)('the live page, in a browser (skipped where there is no Chromium)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'live-page-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const workshopFile = join(dir, 'workshop.json');
  // A lease that outlasts a step of a machine that is busy.
  const live = ownLivePage({ args: ['--lease', '3000'], env: { WORKSHOP_STATE: workshopFile } });

  const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
  const verdict = (page: Page) => page.locator('.verdict');
  const choices = (phone: Page) => phone.locator('.room-choice');

  test('the address without its token shows no stack, and says why', async () => {
    const [bare = ''] = live.address().split('#');
    const page = await live.open(bare);

    await says(page, /lacks its token/);
    expect(await page.locator('.picture').count()).toBe(0);
  });

  test('a drill is played, with its verdict, its story and its code; it is saved as one file, which plays without a network', async () => {
    const page = await live.presenter();
    expect(await play(page, '7-reentrant', 'nested-call')).toMatch(CONCLUDED);
    await says(page, /asks again by another lock object/);
    const orders: string[] = [];
    page.on('request', (request) => orders.push(request.postData() ?? ''));
    // One space bar too many begins nothing. The arrows go from event to event.
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowRight');
    await page.locator('.told-story', { hasText: /asks for the lock\.$/ }).waitFor();
    expect(orders).toEqual([]);
    await tab(page, 'Code').click();
    await page.locator('ins', { hasText: 'acquire-reentrant' }).first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('lockstep-7-reentrant-nested-call.html');
    const file = join(dir, download.suggestedFilename());
    await download.saveAs(file);

    // Beside another drill it is past, and so it answers no question.
    await choose(page, '8-auto-renew', 'nested-call');
    expect(await headings(page)).toEqual(['Still shown: Stage 7 · reentrant · nested-call']);
    expect(await verdict(page).count()).toBe(0);
    await choose(page, '7-reentrant', 'nested-call');
    expect(await verdict(page).count()).toBe(1);
    await page.keyboard.press('q');
    await says(page, 'Votes are open.');
    expect(await verdict(page).count()).toBe(0);

    const saved = await live.open('about:blank', { offline: true });
    const asked: string[] = [];
    saved.on('request', (request) => asked.push(request.url()));
    await saved.goto(pathToFileURL(file).href);
    await saved.getByRole('heading', { name: 'nested-call under Stage 7 · reentrant', exact: true }).waitFor();
    expect(await verdict(saved).count()).toBe(0);
    // The first button plays, and has the focus.
    await saved.keyboard.press('Space');
    await says(saved, CONCLUDED);
    await saved.getByLabel('Moment of the run').fill('0');
    await verdict(saved).waitFor({ state: 'detached' });
    expect(asked).toEqual([pathToFileURL(file).href]);
  });

  test('s goes step by step; at its step a drill asks the room; space goes on, and closes the votes', async () => {
    const page = await live.presenter();
    await choose(page, '5-owner-check', 'late-release');
    await tab(page, 'Story').focus();
    await page.keyboard.press('s');

    await says(page, 'Waits for you.');
    await says(page, /What does it do when it arrives\?/);
    // What has just happened stands above the question; what comes of it is still to come.
    expect(await page.locator('.now').textContent()).toMatch(/is held up on the line to Redis/);
    expect(await page.locator('.picture').textContent()).toMatch(/held/);

    await page.keyboard.press('Space');
    await says(page, /Votes are closed\./);
    await button(page, 'Stop').click();
    await says(page, /^Ready\.$/);
    expect(await verdict(page).count()).toBe(0);
  });

  test('free play: a held sale keeps the other node out; what is broken is undone by one button; a rush goes through nginx', async () => {
    const page = await live.presenter();
    const inPart = (part: string, name: string) =>
      page.getByRole('group', { name: part, exact: true }).getByRole('button', { name, exact: true });
    const press = (part: string, name: string) => inPart(part, name).click();
    const isStock = (units: string | RegExp) => page.getByText(units, { exact: true }).first().waitFor();
    await choose(page, '8-auto-renew');
    await button(page, 'Free play').click();
    await says(page, 'Free play: break what you like.');

    await press('node-1', 'Hold a sale');
    await says(page, /sale \d+ inside/);
    await press('node-2', 'Sell');
    await says(page, '1 waits');
    await press('node-1', 'Let the sale go');
    await isStock('998');
    await press('node-1', 'Kill');
    await says(page, 'dead');
    await press('node-2', 'Hold a write');
    await press('node-2', 'Sell');
    await says(page, 'held');
    await press('redis', 'Stop');
    await says(page, 'stopped');

    await button(page, 'Undo all').click();
    await inPart('redis', 'Stop').waitFor();
    await inPart('node-1', 'Kill').waitFor();
    await press('The stack', 'Rush of 200');
    // The write that was held has come, or its sale has given up: 997 or 998 were left. On a slow machine some buyers are refused.
    await isStock(/^(?!99[78]$)[7-9]\d\d$/);
  });

  test('a follower sees the stack, has no control, votes, and is told what was right', async () => {
    const page = await live.presenter();
    const phone = await live.follower();
    await says(phone, /node-1/);
    expect(await phone.getByRole('button', { name: /Play|Stop|Free play|Step by step/ }).count()).toBe(0);
    // Who comes late finds the address on the wall.
    expect(await page.locator('.controls').textContent()).toContain(live.roomAddress());
    await choose(page, '7-reentrant', 'nested-call');
    // From the list of drills, too.
    await page.getByRole('combobox', { name: /^Drill/ }).press('q');
    await choices(phone).first().click();
    await says(page, '1 of 1 have voted.');
    // The wall shows no bars while votes are taken, unless it is asked to.
    expect(await page.locator('.room progress').count()).toBe(0);
    await page.keyboard.press('b');
    await page.locator('.room progress').first().waitFor();

    await choices(phone).nth(1).click();
    await phone.locator('.room-choice:nth-child(1)[aria-pressed=true]', { hasText: /^B/ }).waitFor();
    await says(page, '1 of 1 have voted.');
    await page.keyboard.press('r');
    await says(phone, 'You were right.');
  });

  test('the scheduler: a level is won by a plan', async () => {
    const page = await live.presenter();
    await button(page, 'Scheduler').click();
    const move = (text: string) => page.locator('.puzzle-move', { hasText: text });
    await page.getByLabel('Level').selectOption('3-spin/crashed-holder');
    await says(page, /it can be done, in \d+ steps at best/);
    await move('A begins a sale').click();
    await page.getByRole('heading', { name: 'You are the scheduler' }).click();
    const key = await move("A's SET lock reaches Redis").locator('kbd').textContent();
    await page.keyboard.press(`${key}`.trim());
    await move('A is killed').click();
    await button(page, 'Go on g').click();
    await page.locator('.puzzle-banner.is-won', { hasText: 'Nobody has entered within two leases' }).waitFor();
    await button(page, 'Back to the stack').click();
    await page.locator('.picture').waitFor();
  });

  test('a workshop that begins takes the place of the stack, on the wall and on the phone, and is gone when it ends', async () => {
    const [page, phone] = [await live.presenter(), await live.follower()];
    const workshop = (on: Page) => on.getByRole('region', { name: 'Workshop' });
    try {
      writeState(failingWorkshop, workshopFile);
      for (const on of [page, phone]) {
        await workshop(on).getByText('✘ fails').waitFor();
        await says(on, 'Nobody has entered within two leases (1800 ms) of the crash.');
        expect(await workshop(on).getByRole('listitem').filter({ hasText: 'SET lock held NX' }).count()).toBe(2);
        // To be read: nothing of it can be pressed.
        expect(await on.locator('main').locator('button, input, a, select').count()).toBe(0);
      }
      await button(page, 'Back to the stack').press('Enter');
      await page.locator('.picture').waitFor();
      await button(page, 'Workshop').press('Enter');
      await workshop(page).waitFor();
    } finally {
      rmSync(workshopFile, { force: true });
      for (const on of [page, phone]) await workshop(on).waitFor({ state: 'detached' });
    }
  });
});
