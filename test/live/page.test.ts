import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePage } from '../../live/server/page-files.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { type CommandUnderTest, leavesNothing, startCommand } from '../loadtest/commands/command-under-test.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import { whatDoesNotFit, windows } from './fits.ts';

const axe = join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js');

describe.skipIf(!hasBrowser)('the live page, in a browser (skipped where there is no Chromium)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'live-page-'));
  const complaints: string[] = [];
  let command: CommandUnderTest;
  let browser: Browser;
  let address: string;
  let roomAddress: string;
  let page: Page;
  /** A second window of the presenter, in a language with longer words: it shows what is played. */
  let longer: Page;
  /** Where Play stood before the first drill. */
  let playAt: number | undefined;

  async function open(url: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    const opened = await browser.newPage({
      viewport: { width: 1_280, height: 720 },
      reducedMotion: 'reduce',
      ...options,
    });
    opened.on('console', (message) => complaints.push(message.text()));
    opened.on('pageerror', (error) => complaints.push(error.message));
    await opened.goto(url);
    return opened;
  }

  const choose = async (stage: string, drill?: string) => {
    await page.getByRole('combobox', { name: /^Stage/ }).selectOption(stage);
    if (drill !== undefined) await page.getByRole('combobox', { name: /^Drill/ }).selectOption(drill);
  };
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
  const inPart = (part: string, name: string) =>
    page.getByRole('group', { name: part, exact: true }).getByRole('button', { name, exact: true });
  const says = (text: string | RegExp, on: Page = page) => on.getByText(text).first().waitFor({ timeout: 60_000 });
  /** Presses the button, and waits until the drill has begun: what was said of the one before is gone. */
  const play = async () => {
    await press('Play');
    await page.getByRole('button', { name: 'Stop', exact: true }).first().waitFor();
  };
  /** Nothing is cut, hidden or covered in any window, in English and with longer words. */
  const fits = async (what: string, on = [page, longer], sizes: readonly (readonly [number, number])[] = windows) => {
    for (const seen of on) {
      for (const [width, height] of sizes) {
        await seen.setViewportSize({ width, height });
        expect({
          what,
          width,
          language: seen === longer ? 'longer' : 'English',
          problems: await whatDoesNotFit(seen),
        }).toMatchObject({ problems: [] });
      }
      await seen.setViewportSize({ width: 1_280, height: 720 });
    }
  };
  const headings = () => page.locator('main .stack h2').allInnerTexts();
  const placeOfPlay = async () => (await page.getByRole('button', { name: 'Play', exact: true }).boundingBox())?.x;
  const isReady = () => page.getByRole('button', { name: 'Play', exact: true }).waitFor({ timeout: 60_000 });

  beforeAll(async () => {
    const env = {
      LIVE_PORT: String(await freePort()),
      LIVE_SHARE_PORT: String(await freePort()),
      WORKSHOP_STATE: join(dir, 'no-workshop.json'),
    };
    const file = 'live/live.ts';
    command = startCommand(file, ['--share', '--lease', '1000'], env, await bundledArgs(file));
    [, address = ''] = await command.prints(/The live page: (\S+)/);
    [, roomAddress = ''] = await command.prints(/The room follows at (\S+)/);
    browser = await launchBrowser();
    page = await open(address);
    const { files } = await makePage({ textsFile: join(import.meta.dirname, 'longer-texts.ts') });
    longer = await browser.newPage({ reducedMotion: 'reduce' });
    longer.on('console', (message) => complaints.push(message.text()));
    await longer.route('**/page.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: files['/page.js']?.text ?? '' }),
    );
    await longer.goto(address);
    await isReady();
  });

  afterAll(async () => {
    await browser?.close();
    command.child.kill('SIGINT');
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.stderr()).toBe('');
    await leavesNothing(command);
    command.remove();
    rmSync(dir, { recursive: true });
    expect(complaints.filter((text) => !/ERR_INCOMPLETE_CHUNKED_ENCODING|status of 409/.test(text))).toEqual([]);
  });

  test('the address without its token shows no stack, and says why', async () => {
    const [bare = ''] = address.split('#');
    const other = await open(bare);
    await says(/lacks its token/, other);
    await other.close();
  });

  test('before the first drill everything fits', async () => {
    await longer
      .getByText(/Playpl/)
      .first()
      .waitFor();
    await fits('the start');
    playAt = await placeOfPlay();
    expect(playAt).toBeGreaterThan(0);
  });

  // Every verdict, played from the page: story.test.ts.
  test('the verdict, the story and the code fit', async () => {
    await choose('6-lua-release', 'nested-call');
    await play();
    await says(/fails, as taught/);
    await isReady();
    expect(await placeOfPlay()).toBe(playAt);
    await fits('the verdict');
    for (const seen of [page, longer]) await seen.locator('#tab-code-0').click();
    await fits('the code');
    for (const seen of [page, longer]) await seen.locator('#tab-story-0').click();
  });

  test('a rush: its figures are counted on the page', async () => {
    await choose('1-in-process', 'rush');
    await play();
    await says(/fails, as taught/);
    await isReady();
    expect(await page.locator('main').textContent()).toMatch(/2,000\s*sold|sold\s*2,000/);
    // It is over: there is no speed any more.
    expect(await page.locator('main').textContent()).not.toContain('sales a second');
    await fits('the figures of a rush');
  });

  test('step by step, by the keyboard alone: space goes on, the arrows go from event to event', async () => {
    await choose('8-auto-renew', 'paused-process');
    expect(await headings()).toEqual(['Still shown: Stage 1 · in-process · rush']);
    expect(await page.locator('.verdict').count()).toBe(0);
    await page.getByRole('button', { name: 'Step by step' }).focus();
    await page.keyboard.press('Enter');
    await says('Waits for you.');
    await says(/SIGSTOP/);
    expect(await page.getByRole('status').allInnerTexts()).not.toContain('Ready.');
    await fits('a step that waits', [longer]);
    for (let steps = 0; (await page.getByRole('button', { name: 'Play', exact: true }).count()) === 0; steps += 1) {
      // On a busy machine the drill is played once more.
      expect(steps).toBeLessThan(400);
      await page.keyboard.press('Space');
      await page.waitForTimeout(250);
    }
    await says(/fails, as taught/);
    await page.keyboard.press('ArrowRight');
    await says(/asks for the lock\./);
    // One space bar too many begins nothing.
    await page.keyboard.press('Space');
    await page.waitForTimeout(500);
    expect(await page.locator('.status').textContent()).toBe('Ready.');
    await says(/fails, as taught/);
  });

  test('the verdict of a drill does not stand beside the question of another one', async () => {
    await choose('8-auto-renew', 'nested-call');
    expect(await headings()).toEqual(['Still shown: Stage 8 · auto-renew · paused-process']);
    expect(await page.locator('.verdict').count()).toBe(0);
    await choose('8-auto-renew', 'paused-process');
    expect(await headings()).toEqual(['Stage 8 · auto-renew · paused-process']);
    expect(await page.locator('.verdict').count()).toBe(1);
    // It answers its own question too: that of its step is taken away, and asked again.
    await page.getByRole('tab', { name: 'Predict' }).click();
    await page.keyboard.press('x');
    await page.getByRole('button', { name: /^Ask/ }).waitFor();
    await page.keyboard.press('q');
    await says('Votes are open.');
    expect(await page.locator('.verdict').count()).toBe(0);
    await page.keyboard.press('x');
    await page.locator('.verdict').waitFor();
    await page.getByRole('tab', { name: 'Story' }).click();
  });

  test('p plays and s plays step by step, but not from a list', async () => {
    await choose('6-lua-release', 'nested-call');
    await page.getByRole('combobox', { name: /^Drill/ }).focus();
    await page.keyboard.press('p');
    await page.waitForTimeout(300);
    expect(await page.locator('.status').textContent()).toBe('Ready.');
    await choose('4-ttl', 'slow-holder');
    await page.getByRole('tab', { name: 'Story' }).focus();
    await page.keyboard.press('s');
    await says('Waits for you.');
    await press('Stop');
    await isReady();
    await choose('6-lua-release', 'nested-call');
    await page.keyboard.press('p');
    await says('The drill is playing.');
    await says(/fails, as taught/);
    await isReady();
  });

  test('under the stage before and under this one, side by side', async () => {
    await choose('4-ttl', 'crashed-holder');
    await page.getByLabel('beside the stage before').check();
    await play();
    await says(/holds, as taught/);
    await isReady();
    const [before, after] = ['Stage 3 · spin · crashed-holder', 'Stage 4 · ttl · crashed-holder'];
    expect(await headings()).toEqual([before, after]);
    await longer.locator('.check input').check();
    await fits('two stages side by side');
    await longer.locator('.check input').uncheck();
    // The box has the focus: it takes the space bar alone. A question is about the later stage, and has half of the page.
    await page.getByLabel('beside the stage before').focus();
    await page.keyboard.press('q');
    await says('Votes are open.');
    expect(await headings()).toEqual([after]);
    expect((await page.locator('.panel').boundingBox())?.height).toBeGreaterThan(400);
    await page.keyboard.press('x');
    await page.getByRole('tab', { name: 'Story' }).click();
    expect(await headings()).toEqual([before, after]);
    await page.getByLabel('beside the stage before').uncheck();
    expect(await headings()).toEqual([after]);
  });

  test('a run is saved as one file, which plays without a server', async () => {
    await choose('4-ttl', 'crashed-holder');
    await play();
    await says(/holds, as taught/);
    await isReady();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('lockstep-4-ttl-crashed-holder.html');
    const file = join(dir, download.suggestedFilename());
    await download.saveAs(file);
    const saved = await open(pathToFileURL(file).href);
    await saved.getByRole('heading', { name: 'crashed-holder under Stage 4 · ttl', exact: true }).waitFor();
    expect(await saved.title()).toMatch(/^crashed-holder under Stage 4 · ttl/);
    expect(await saved.getByText(/holds, as taught/).count()).toBe(0);
    const moment = saved.getByLabel('Moment of the run');
    // The lease runs out with the run: at each moment it is as it was then, however long that is looked at.
    const last = Number(await moment.getAttribute('max'));
    const lease = saved.locator('.lease-bar text');
    const leases: string[] = [];
    for (let at = 0; at <= last; at += 100) {
      await moment.fill(String(at));
      leases.push(...(await lease.allTextContents()));
    }
    expect(leases).toContain('1.0 s');
    expect(leases.filter((left) => left === 'over').length).toBeLessThan(leases.length / 2);
    await moment.fill('0');
    await saved.locator('.scroll').focus();
    await saved.keyboard.press('Space');
    await says(/holds, as taught/, saved);
    expect(await saved.locator('.saved svg rect').count()).toBeGreaterThan(0);
    await saved.close();
  });

  describe('free play', () => {
    beforeAll(async () => {
      await choose('8-auto-renew');
      await press('Free play');
      await says('Free play: break what you like.');
    });

    test('a held sale keeps the other node out until it goes on', async () => {
      await inPart('node-1', 'Hold a sale').click();
      await says(/sale \d+ inside/);
      await inPart('node-2', 'Sell').click();
      await says('1 waits');
      await inPart('node-1', 'Let the sale go').click();
      await page.getByText('998', { exact: true }).first().waitFor();
    });

    test('a node that is killed looks dead, and sells again when it was started', async () => {
      await inPart('node-1', 'Kill').click();
      await says('dead');
      await inPart('node-1', 'Start').click();
      await inPart('node-1', 'Kill').waitFor();
      await inPart('node-1', 'Sell').click();
      await page.getByText('997', { exact: true }).first().waitFor();
    });

    test('a node that is stopped, one that is cut off, a write that is held: each is undone by one button', async () => {
      await inPart('node-2', 'Hold a write').click();
      await inPart('node-2', 'Sell').click();
      await says('held');
      await inPart('node-1', 'Stop').click();
      await says('stopped');
      await inPart('redis', 'Stop').click();
      await inPart('redis', 'Go on').waitFor();
      await fits('free play, and much that is broken');
      await press('Undo all');
      await inPart('redis', 'Stop').waitFor();
      await inPart('node-1', 'Stop').waitFor();
      await inPart('node-1', 'Sell').click();
      await page.getByText('nobody inside').nth(1).waitFor();
    });

    test('a rush of 200 through nginx', async () => {
      await inPart('The stack', 'Rush of 200').click();
      await page.getByRole('tab', { name: 'Figures' }).click();
      await page.waitForFunction(() => /20\d/.test(document.querySelector('.panel')?.textContent ?? ''), undefined, {
        timeout: 60_000,
      });
    });

    test('what would do nothing says why', async () => {
      await press('End free play');
      await isReady();
      await choose('1-in-process');
      await press('Free play');
      await says('Free play: break what you like.');
      await inPart('node-1', 'Hold a release').click({ force: true });
      await says('The lock is in the node itself: no command releases it.');
      await press('End free play');
      await isReady();
    });
  });

  describe('predictions and the room', () => {
    test('a follower sees the page, has no control, votes, and sees what happened', async () => {
      const context = await browser.newContext({ viewport: { width: 400, height: 800 } });
      const phone = await context.newPage();
      await phone.goto(roomAddress);
      await says(/node-1/, phone);
      expect(await phone.getByRole('button', { name: /Play|Stop|Free play|Step by step/ }).count()).toBe(0);
      await choose('4-ttl', 'slow-holder');
      await page.getByRole('tab', { name: 'Predict' }).click();
      await page.getByRole('button', { name: /^Ask/ }).click();
      await phone.locator('.room-choice').first().waitFor();
      expect(await phone.locator('.room-choice').count()).toBeGreaterThanOrEqual(3);
      await phone.locator('.room-choice').first().click();
      await says(/1 of 1/);
      // The wall shows no bars while votes are taken, unless it is asked to.
      expect(await page.locator('.room progress').count()).toBe(0);
      await page.keyboard.press('b');
      await page.locator('.room progress').first().waitFor();
      await page.keyboard.press('b');
      // A second window of the same phone knows what was said, and changes that vote.
      const sameAgain = await context.newPage();
      await sameAgain.goto(roomAddress);
      await sameAgain.locator('.room-choice[aria-pressed=true]').waitFor();
      await sameAgain.locator('.room-choice').nth(1).click();
      await phone.locator('.room-choice[aria-pressed=true]').nth(0).getByText('you said this').waitFor();
      await phone.waitForFunction(
        () => document.querySelectorAll('.room-choice')[1]?.getAttribute('aria-pressed') === 'true',
      );
      await sameAgain.close();
      await says(/1 of 1/);
      await longer.locator('#tab-predict-0').click();
      await fits('a question that is open');
      await play();
      // While it is played the question leaves the phone to it. Who comes late finds the address in the head.
      await phone.getByText('You said B.', { exact: true }).waitFor();
      expect(await phone.locator('.room-choice').count()).toBe(0);
      expect(await page.locator('.controls').textContent()).toContain(roomAddress);
      await says(/fails, as taught/);
      await isReady();
      await page.getByRole('tab', { name: 'Predict' }).click();
      await page
        .getByRole('button', { name: /Show the answer/ })
        .first()
        .click();
      await says('You said B. D is right.', phone);
      await fits('an answer');
      await fits('the phone', [phone], [[400, 800]]);
      await context.close();
    });
  });

  describe('you are the scheduler', () => {
    test('a level is won by its hints, and the search knows in how many steps; one that holds says so', async () => {
      await press('Scheduler');
      const level = page.getByLabel('Level');
      const options = await level.locator('option').allInnerTexts();
      await level.selectOption({ label: options.find((text) => /Stage 5/.test(text)) ?? '' });
      await says(/in \d+ steps/);
      for (let hints = 0; (await page.locator('.puzzle-banner.is-won').count()) === 0; hints += 1) {
        expect(hints).toBeLessThan(40);
        const steps = await page.locator('.puzzle').textContent();
        await page.keyboard.press('h');
        await page.waitForFunction((before) => document.querySelector('.puzzle')?.textContent !== before, steps);
      }

      await level.selectOption({ label: options.find((text) => /Stage 6.*late-release/.test(text)) ?? '' });
      await says(/all [\d,]+ orders, none does it/);
      await longer.locator('.orders button').nth(3).click();
      await longer.locator('.puzzle-move').first().waitFor();
      await fits('the scheduler');
      await press('Back to the stack');
    });
  });

  describe('for everybody', () => {
    test.each(['light', 'dark'] as const)('axe finds nothing, %s', async (colorScheme) => {
      for (const [name, url] of [['presenter', address] as const, ['follower', roomAddress] as const]) {
        const seen = await open(url, { colorScheme, bypassCSP: true });
        await says(/node-1/, seen);
        await seen.addScriptTag({ path: axe });
        const violations = await seen.evaluate(async () => {
          const { axe } = globalThis as unknown as {
            axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
          };
          return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
        });
        expect({ name, violations }).toEqual({ name, violations: [] });
        await seen.close();
      }
    });
  });

  test('the page is small, unpacked', async () => {
    const seen = await open('about:blank');
    const bodies: Promise<Buffer>[] = [];
    seen.on('response', (response) => {
      if (!response.url().includes('/stream')) bodies.push(response.body());
    });
    await seen.goto(address);
    await says(/node-1/, seen);
    const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + body.length, 0);
    await seen.close();

    expect(bodies.length).toBeGreaterThanOrEqual(3);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(100_000);
  });
});
