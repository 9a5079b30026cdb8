// npm run pictures: makes docs/images: the README's animation and the preview of a shared link, from the lesson; the final
// stock, from drills in simulated time; and the live page, which it starts and plays on. It needs Chromium: at
// /usr/bin/chromium, or where CHROMIUM says.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Locator, type Page } from 'playwright-core';
import { cellsOf, drillsOf } from '../loadtest/run/tracks.ts';
import { locks } from '../locks/index.ts';
import { nodeArgs, projectDir } from '../stack/parts.ts';
import { browserPath } from '../stack/path.ts';
import { lessons } from '../workshop/picture/lessons.ts';
import { filmOf, playRace, stillOf, themes } from '../workshop/teaching/film.ts';
import { SHARE } from '../workshop/teaching/site.ts';
import { sampleReport } from './command-line/sample-report.ts';

const imagesDir = join(projectDir, 'docs/images');
/** Time limit of a scenario, in milliseconds. */
const LIMIT_MS = 120_000;
/** The step that is shown on real servers. */
const STEP = 6;

const race = await playRace();
for (const theme of themes) {
  writeImage(`race-${theme}.svg`, await filmOf(race, theme));
  writeImage(`race-${theme}-still.svg`, await filmOf(race, theme, true));
}
const loads = drillsOf('locks').filter(({ name }) => name === 'rush' || name === 'sell-out');
const cells = cellsOf('locks', Object.keys(locks), loads);
const report = await sampleReport('pictures', cells, new AbortController().signal);

const live = spawn(process.execPath, nodeArgs('scripts/live.ts'), {
  cwd: projectDir,
  env: { ...process.env, LIVE_PORT: '0' },
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
});
const browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox', '--disable-gpu'] });
try {
  await takeShare();
  const page = await browser.newPage({
    viewport: { width: 1280, height: 720 },
    deviceScaleFactor: 1.5,
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  page.setDefaultTimeout(LIMIT_MS);
  await page.setContent(report);
  await takeStock(page);
  await page.goto(await addressOf());
  await takeStep(page);
} finally {
  await browser.close();
  live.kill('SIGINT');
  if (live.exitCode === null) await once(live, 'exit');
}

/** The page's address. Rejects if the process exits before printing it. */
async function addressOf(): Promise<string> {
  const ended = once(live, 'exit').then(() => {
    throw new Error('npm run live exited before it printed its address.');
  });
  const [{ address }] = (await Promise.race([once(live, 'message'), ended])) as [{ address: string }];
  return address;
}

/** At its own size in pixels, as link previews expect. */
async function takeShare() {
  const page = await browser.newPage({ viewport: { width: SHARE.w, height: SHARE.h } });
  await page.setContent(`<body style="margin: 0">${await stillOf(race, 'light')}`);
  await take(page, 'share.png');
}

/** The final stock of each stage. */
async function takeStock(page: Page) {
  // A screenshot ends where its section does: this gives it an edge.
  await page.addStyleTag({ content: 'section { padding: 0 16px 16px }' });
  const heading = page.getByRole('heading', { name: 'The final stock', exact: true });
  await take(page.locator('section', { has: heading }), 'final-stock.png');
}

/** A step on real servers in which the lock holds. */
async function takeStep(page: Page) {
  await page.locator('nav button').nth(STEP).click();
  await page
    .locator('.ask .answer')
    .nth(lessons[STEP]?.right ?? 0)
    .click();
  await page.getByLabel('Real servers').check();
  await page.getByRole('button', { name: 'Play on the real servers' }).click();
  await page.locator('.sides button em.bad').waitFor();
  await page.locator('.sides button em.good').waitFor();
  await page.getByRole('button', { name: 'To the deciding moment' }).click();
  await take(page, 'live-drill.png');
}

function writeImage(name: string, image: string | Buffer) {
  writeFileSync(join(imagesDir, name), image);
  console.log(`docs/images/${name}`);
}

async function take(part: Page | Locator, name: string) {
  writeImage(name, await part.screenshot());
}
