// Makes the pictures of the live page, a part of npm run pictures: it starts the page and plays on it.
// It needs Chromium: at /usr/bin/chromium, or where CHROMIUM says.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium, type Page } from 'playwright-core';
import { browserPath } from '../scripts/stack/browser.ts';
import { nodeArgs, projectDir } from '../scripts/stack/parts.ts';
import { freePort } from '../scripts/stack/ports.ts';

const imagesDir = join(projectDir, 'docs/images');
/** How long a drill may take, in milliseconds. */
const DRILL_LIMIT_MS = 60_000;

const live = spawn(process.execPath, nodeArgs('live/live.ts'), {
  cwd: projectDir,
  env: { ...process.env, LIVE_PORT: String(await freePort()) },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({
  executablePath: browserPath(),
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 720 },
    deviceScaleFactor: 1.5,
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  await page.goto(await addressOf());
  await takeDrill(page);
  await takeFreePlay(page);
  await takeScheduler(page);
} finally {
  await browser.close();
  live.kill('SIGINT');
  if (live.exitCode === null) await once(live, 'exit');
}

/** The address that the page prints. Rejects when it ends before. */
async function addressOf(): Promise<string> {
  for await (const line of createInterface({ input: live.stdout })) {
    const [, address] = /^The live page: (\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('npm run live ended before it printed an address.');
}

async function takeDrill(page: Page) {
  await isReady(page);
  await choose(page, '4-ttl', 'slow-holder');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByText('fails, as expected').waitFor({ timeout: DRILL_LIMIT_MS });
  await isReady(page);
  await page.getByRole('tab', { name: 'Story' }).click();
  await take(page, 'live-drill.png');
}

async function takeFreePlay(page: Page) {
  const button = (part: string, name: string) =>
    page.getByRole('group', { name: part, exact: true }).getByRole('button', { name, exact: true });
  await choose(page, '8-auto-renew', 'paused-process');
  await page.getByRole('button', { name: 'Free play', exact: true }).click();
  await button('node-1', 'Hold a sale').click();
  await page.getByText(/sale \d+ inside/).waitFor();
  await button('node-1', 'Stop').click();
  await button('node-2', 'Sell').click();
  await page.getByText('999', { exact: true }).first().waitFor({ timeout: DRILL_LIMIT_MS });
  await take(page, 'live-free.png');
  await page.getByRole('button', { name: 'End free play' }).click();
  await isReady(page);
}

async function takeScheduler(page: Page) {
  await page.getByRole('button', { name: 'Scheduler', exact: true }).click();
  const level = page.getByLabel('Level');
  const names = await level.locator('option').allInnerTexts();
  await level.selectOption({
    label: names.find((name) => name.includes('slow-holder') && name.includes('Stage 4')) ?? '',
  });
  await page.getByText(/in \d+ steps/).waitFor({ timeout: DRILL_LIMIT_MS });
  for (let hints = 1; hints <= 6; hints += 1) {
    await page.keyboard.press('h');
    await page.getByText(`${hints} hint`).waitFor();
  }
  await take(page, 'live-scheduler.png');
}

async function choose(page: Page, stage: string, drill: string) {
  await page.getByRole('combobox', { name: /^Stage/ }).selectOption(stage);
  await page.getByRole('combobox', { name: /^Drill/ }).selectOption(drill);
}

async function isReady(page: Page) {
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor({ timeout: DRILL_LIMIT_MS });
}

async function take(page: Page, name: string) {
  await page.screenshot({ path: join(imagesDir, name) });
  console.log(`docs/images/${name}`);
}
