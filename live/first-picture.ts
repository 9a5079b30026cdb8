// Measures how soon the page shows its first picture, and how large it is: npx tsx live/first-picture.ts.
// It needs Chromium: at /usr/bin/chromium, or where CHROMIUM says.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Browser, chromium } from 'playwright-core';
import { formatNumber } from '../loadtest/evidence/numbers.ts';
import { browserPath } from '../scripts/stack/browser.ts';
import { nodeArgs, projectDir } from '../scripts/stack/parts.ts';
import { freePort } from '../scripts/stack/ports.ts';
import { makePage } from './server/page-files.ts';

/** How often the page is opened at each speed. */
const TIMES = 15;
/** How many times slower the browser's processor is made: a laptop that is a few years old, and a cheap phone. */
const SLOWER = [1, 4, 6];

const { files } = await makePage();
const bytes = Object.values(files).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
const live = spawn(process.execPath, nodeArgs('live/live.ts'), {
  cwd: projectDir,
  env: { ...process.env, LIVE_PORT: String(await freePort()) },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({
  executablePath: browserPath(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  const address = await addressOf();
  // The stack has to be there: the servers are started once, and the page is opened many times.
  await firstPicture(browser, address, 1);
  console.log(`The page: ${formatNumber(bytes)} bytes, unpacked.`);
  for (const slower of SLOWER) {
    const all: number[] = [];
    for (let time = 0; time < TIMES; time += 1) all.push(await firstPicture(browser, address, slower));
    all.sort((one, other) => one - other);
    const [best, median, worst] = [0, TIMES >> 1, TIMES - 1].map((place) => formatNumber(all[place] as number));
    console.log(`First picture, processor ×1/${slower}: median ${median} ms, best ${best} ms, worst ${worst} ms.`);
  }
} finally {
  await browser.close();
  live.kill('SIGINT');
  if (live.exitCode === null) await once(live, 'exit');
}

/** Opens the page in a new browser profile, and resolves with the milliseconds until the picture of the stack was painted. */
async function firstPicture(browser: Browser, address: string, slower: number): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 720 } });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
    await page.goto(address);
    const seen = await page.waitForFunction(
      () =>
        document.querySelector('.picture svg .part') === null
          ? 0
          : new Promise<number>((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))),
      undefined,
      { timeout: 60_000 },
    );
    return seen.jsonValue();
  } finally {
    await context.close();
  }
}

/** The address that the page prints. Rejects when it ends before. */
async function addressOf(): Promise<string> {
  for await (const line of createInterface({ input: live.stdout })) {
    const [, address] = /^The live page: (\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('npm run live ended before it printed an address.');
}
