import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Exercise, exercisesDir, readExercises } from '../../../exercises/workshop/exercise.ts';
import { makePage } from '../../../live/server/page-files.ts';
import { bundledArgs } from '../../../scripts/stack/bundle.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { hasBrowser, launchBrowser } from '../../live/browser.ts';
import { type CommandUnderTest, leavesNothing, startCommand } from '../../loadtest/commands/command-under-test.ts';
import { whatDoesNotFit, windows } from './fits.ts';
import { makeOwnFont } from './own-font.ts';
import { violations } from './violations.ts';

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
/** How long the page may take on a machine that is busy, in milliseconds. How soon it is otherwise is a test of the server's. */
const LIMIT_MS = 20_000;

describe.skipIf(!hasBrowser || !hasScript)(
  'npm run workshop beside npm run live (skipped where there is no Chromium, or no script of util-linux)',
  () => {
    const root = mkdtempSync(join(tmpdir(), 'live-workshop-'));
    const env = {
      WORKSHOP_EXERCISES: join(root, 'exercises'),
      WORKSHOP_PROGRESS: join(root, '.workshop.json'),
      WORKSHOP_STATE: join(root, 'reports/workshop.json'),
    };
    const fonts = makeOwnFont();
    const complaints: string[] = [];
    let command: CommandUnderTest;
    let browser: Browser;
    let exercise: Exercise;
    let terminal: ReturnType<typeof openTerminal>;
    let page: Page;
    let phone: Page;
    /** The presenter's page with words that are longer. */
    let longer: Page;

    function openTerminal(node: string[]) {
      const { PATH, HOME } = process.env;
      const words = [process.execPath, ...node, '4'].map((word) => `'${word}'`).join(' ');
      const child = spawn('script', ['-qec', words, '/dev/null'], {
        cwd: projectDir,
        env: { PATH, HOME, TMPDIR: command.tmp, TERM: 'xterm', NO_COLOR: '1', ...env },
      });
      let shown = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text;
      });
      return {
        press: (key: string) => void child.stdin.write(key),
        shows: (pattern: RegExp) =>
          vi
            .waitFor(() => expect(shown.replace(/\s+/g, ' ')).toMatch(pattern), { timeout: 60_000, interval: 20 })
            .then(() => {
              shown = '';
            }),
        ended: new Promise<number | null>((resolve) => child.once('close', resolve)),
      };
    }

    async function open(url: string, width = 1_280): Promise<Page> {
      const opened = await browser.newPage({ viewport: { width, height: 720 }, reducedMotion: 'reduce' });
      opened.on('console', (message) => complaints.push(message.text()));
      opened.on('pageerror', (error) => complaints.push(error.message));
      await opened.goto(url);
      return opened;
    }

    const workshop = (on: Page) => on.getByRole('region', { name: 'Workshop' });
    /** The wall and a phone say it. */
    const say = async (text: string | RegExp) => {
      for (const on of [page, phone]) await workshop(on).getByText(text).first().waitFor({ timeout: LIMIT_MS });
    };
    const fits = async (what: string) => {
      for (const [seen, sizes] of [
        [page, windows] as const,
        [longer, windows] as const,
        [phone, windows.slice(2)] as const,
      ]) {
        for (const [width, height] of sizes) {
          await seen.setViewportSize({ width, height });
          expect({ what, width, problems: await whatDoesNotFit(seen) }).toMatchObject({ problems: [] });
        }
      }
      await page.setViewportSize({ width: 1_280, height: 720 });
    };

    beforeAll(async () => {
      mkdirSync(env.WORKSHOP_EXERCISES);
      symlinkSync(join(projectDir, 'locks'), join(root, 'locks'));
      cpSync(join(exercisesDir, 'originals'), join(env.WORKSHOP_EXERCISES, 'originals'), { recursive: true });
      for (const { name, original } of readExercises().filter(({ number }) => number === 4)) {
        cpSync(join(exercisesDir, name), join(env.WORKSHOP_EXERCISES, name), { recursive: true });
        cpSync(original, join(env.WORKSHOP_EXERCISES, name, 'lock.ts'));
      }
      [exercise] = readExercises(env.WORKSHOP_EXERCISES) as [Exercise];
      const ports = { LIVE_PORT: '0', LIVE_SHARE_PORT: '0' };
      const file = 'live/live.ts';
      command = startCommand(file, ['--share'], { ...ports, ...env }, await bundledArgs(file));
      const [, address = ''] = await command.prints(/The live page: (\S+)/);
      const [, roomAddress = ''] = await command.prints(/The room follows at (\S+)/);
      browser = await launchBrowser(fonts.file);
      page = await open(address);
      phone = await open(roomAddress, 400);
      longer = await browser.newPage({ reducedMotion: 'reduce' });
      const { files } = await makePage({ textsFile: join(import.meta.dirname, 'longer-texts.ts') });
      await longer.route('**/page.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: files['/page.js']?.text ?? '' }),
      );
      await longer.goto(address);
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
      await page.locator('.picture').waitFor();
    });

    afterAll(async () => {
      terminal?.press('\x03');
      await terminal?.ended;
      await browser?.close();
      command.child.kill('SIGINT');
      expect(await command.ended).toEqual({ code: 0, signal: null });
      expect(command.stderr()).toBe('');
      await leavesNothing(command);
      command.remove();
      rmSync(root, { recursive: true });
      fonts.remove();
      expect(complaints.filter((text) => !/ERR_INCOMPLETE_CHUNKED_ENCODING/.test(text))).toEqual([]);
    });

    test('as long as no workshop runs there is nothing of it', async () => {
      for (const on of [page, phone]) {
        expect(await workshop(on).count()).toBe(0);
        expect(await on.getByRole('button', { name: 'Workshop' }).count()).toBe(0);
      }
    });

    test('it begins: the question is shown, and no verdict', async () => {
      terminal = openTerminal(await bundledArgs('exercises/workshop/workshop.ts'));
      await terminal.shows(/What do you expect\?/);

      await say(`Exercise 4: ${exercise.title}`);
      await say(exercise.prediction.question);
      for (const { text } of exercise.prediction.answers) await say(text);
      await say('The question is open: no verdict before it is answered.');
      for (const on of [page, phone]) expect(await on.locator('.verdict, .is-newest').count()).toBe(0);
      await fits('the question');
    });

    test('the prediction is taken: the verdict with its reason, and the counterexample as steps', async () => {
      terminal.press('a');
      await terminal.shows(/Nobody has entered within two leases \(1800 ms\) of the crash\./);

      await say('✘ fails');
      await say('Nobody has entered within two leases (1800 ms) of the crash.');
      await say('Not solved yet.');
      for (const on of [page, phone]) {
        const steps = workshop(on).getByRole('list', { name: 'The shortest order that breaks it (crashed-holder)' });
        expect(
          (await steps.getByRole('listitem').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()),
        ).toEqual([
          '0 ms A: begins a sale',
          '0 ms A: SET lock held NX → "OK" A is inside',
          '0 ms A: is killed',
          '0 ms B: begins a sale',
          expect.stringMatching(/^0 ms B: SET lock held NX → null … and \d+ times more, until [\d,]+ ms$/),
        ]);
        const answers = workshop(on).locator('.story').first();
        expect(await answers.locator('.is-newest').textContent()).toMatch(/^a\s*At once: .* \(predicted\)$/);
        expect(await answers.getByText('(✔ right)').count()).toBe(1);
        // To be read: nothing of it can be pressed.
        expect(await on.locator('main').locator('button, input, a, select').count()).toBe(0);
      }
      await fits('the verdict');
    });

    test.each(['light', 'dark'] as const)('axe finds nothing, %s', async (colorScheme) => {
      for (const on of [page, phone]) {
        const seen = await browser.newPage({ colorScheme, bypassCSP: true, viewport: on.viewportSize() });
        await seen.goto(on.url());
        await workshop(seen).getByText('✘ fails').waitFor();
        expect(await violations(seen)).toEqual([]);
        await seen.close();
      }
    });

    test("a save that can't be judged says why, and names no place on this machine", async () => {
      writeFileSync(exercise.file, `throw new Error('no ${root}/x.ts');`);
      await terminal.shows(/It can't be judged yet\./);

      await say("? can't be judged yet");
      await say(/lock\.ts: no x\.ts\./);
      for (const on of [page, phone]) expect(await on.content()).not.toContain(root);
    });

    test('the solution is saved: solved, and no steps', async () => {
      cpSync(exercise.solution, exercise.file);
      await terminal.shows(/Solved\./);

      await say('Solved.');
      await say('✔ holds');
      expect(await workshop(page).getByRole('heading', { level: 3 }).count()).toBe(0);
      await fits('solved');
    });

    test('by the keyboard: back to the stack, and to the workshop again', async () => {
      await page.getByRole('button', { name: 'Back to the stack' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('.picture').waitFor();
      expect(await workshop(page).count()).toBe(0);
      expect(await workshop(phone).count()).toBe(1);
      await page.keyboard.press('Enter');
      await workshop(page).waitFor();
    });

    test('what is played takes its place, on the wall and on the phone', async () => {
      await page.getByRole('button', { name: 'Play', exact: true }).click();
      await page.locator('.picture').waitFor();
      await phone.locator('.picture').waitFor();
      for (const on of [page, phone]) expect(await workshop(on).count()).toBe(0);
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      await page.getByRole('button', { name: 'Workshop' }).click();
      await phone.getByRole('button', { name: 'Workshop' }).click();
      await say('Solved.');
    });

    test('it ends, and is gone', async () => {
      terminal.press('\x03');
      expect(await terminal.ended).toBe(0);

      for (const on of [page, phone]) {
        await workshop(on).waitFor({ state: 'detached', timeout: LIMIT_MS });
        expect(await on.getByRole('button', { name: /Workshop|Back to the stack/ }).count()).toBe(0);
      }
    });
  },
);
