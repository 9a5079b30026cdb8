import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';
import { concurrentCommand } from '../loadtest/commands/command-under-test.ts';
import { hasBrowser, launchBrowser } from './browser.ts';

const drill = concurrentCommand('live/drill.ts', 1);
const dir = mkdtempSync(join(tmpdir(), 'saved-drill-'));
const file = join(dir, 'run.html');
afterAll(() => rmSync(dir, { recursive: true }));

describe('npm run drill -- --save', () => {
  test('the run is kept as one file, which says where it is, and the exit code is that of the drill', async () => {
    const { code, stdout, stderr } = await drill(['--stage', '3', '--drill', 'crashed-holder', '--save', file]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/✘ fails, as taught.*The run is kept in \S*run\.html/s);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/i);
  });

  test.skipIf(!hasBrowser)(
    'the file plays without a server, and without a network (skipped where there is no Chromium)',
    async () => {
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
    },
  );

  test('a place that cannot be written is told before anything is started', async () => {
    const taken = join(dir, 'taken');
    writeFileSync(taken, '');

    for (const place of [dir, join(taken, 'run.html'), join(dir, 'no', 'such', 'folder', 'run.html')]) {
      const { code, stdout, stderr } = await drill(['crashed-holder', '--stage', '3', '--save', place]);
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^The drill could not be run: \S+ can't be written: \S+.*\n$/),
      });
      expect(stderr).toContain(place);
    }
  });

  test.each([
    { args: ['crashed-holder', '--stage', '3,4', '--save', file], says: /keeps one run: name one stage/ },
    { args: ['--stage', '3', '--save', 'crashed-holder'], says: /name a drill before the options/ },
    { args: ['crashed-holder', '--drill', 'late-release', '--stage', '5'], says: /one drill at a time/ },
    { args: ['double-click', '--idempotency', 'lock', '--save'], says: /drills of a lock/ },
  ])('$args is not allowed', async ({ args, says }) => {
    const { code, stdout, stderr } = await drill(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
  });

  test('a drill that has nothing to break there keeps nothing', async () => {
    const kept = join(projectDir, 'reports/1-in-process.late-release.html');
    const { code, stdout } = await drill(['late-release', '--stage', '1', '--save']);

    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/– not applicable/) });
    expect(stdout).not.toContain('is kept');
    expect(existsSync(kept)).toBe(false);
  });
});
