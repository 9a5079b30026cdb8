// Makes the pictures of the pages from the latest reports of npm run staircase and npm run bench, those that are there:
// npm run pictures [-- REPORTS]
// It needs Chromium: at /usr/bin/chromium, or where CHROMIUM says.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { browserPath } from './stack/browser.ts';
import { projectDir } from './stack/parts.ts';

/** Wide enough for two charts side by side, in CSS pixels. */
const WIDTH = 1200;

/** Each picture: its report, the section of it that it shows, by its heading, and the charts and tables that it leaves out. */
const pictures = {
  'final-stock.png': {
    from: 'latest/report.html',
    heading: 'The final stock',
    without: ['one-node-rush'],
  },
  'bench.png': { from: 'latest-bench/bench.html', heading: 'Acquisitions per second', without: ['× 10 waiters'] },
};

const reports = resolve(process.argv[2] ?? join(projectDir, 'reports'));
const imagesDir = join(projectDir, 'docs/images');

mkdirSync(imagesDir, { recursive: true });
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
    viewport: { width: WIDTH, height: 1200 },
    deviceScaleFactor: 2,
    colorScheme: 'light',
  });
  for (const [name, { from, heading, without }] of Object.entries(pictures)) {
    if (!existsSync(join(reports, from))) {
      console.error(`${name} is as it was: there is no ${join(reports, from)}.`);
      continue;
    }
    await page.goto(pathToFileURL(join(reports, from)).href);
    // A screenshot ends where its section does: this gives it an edge.
    await page.addStyleTag({ content: 'section { padding: 0 16px 16px }' });
    await takePicture(page, heading, without, join(imagesDir, name));
  }
} finally {
  await browser.close();
}

async function takePicture(page: Page, heading: string, without: string[], file: string) {
  const section = page.locator('section', { has: page.getByRole('heading', { name: heading, exact: true }) });
  for (const caption of without) {
    await section.locator('figure, .scroll', { hasText: caption }).evaluateAll((parts) => {
      for (const part of parts) part.remove();
    });
  }
  await section.screenshot({ path: file, animations: 'disabled' });
  console.log(`${relative(projectDir, file)}, ${Math.round(statSync(file).size / 1000)} kB`);
}
