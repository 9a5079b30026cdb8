// Makes the pictures of the README from the latest report: node --import tsx scripts/pictures.ts [REPORT.html]
// It needs Chromium: at /usr/bin/chromium, or where CHROMIUM says.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { projectDir } from './parts.ts';

/** Wide enough for two charts side by side, in CSS pixels. */
const WIDTH = 1200;

/** Each picture: the section of the report that it shows, by its heading, and the charts that it leaves out. */
const pictures = {
  'staircase.png': { heading: 'The staircase', without: [] },
  'final-stock.png': { heading: 'What was left, and what should have been left', without: ['one-node-rush'] },
};

const report = resolve(process.argv[2] ?? join(projectDir, 'reports/latest/report.html'));
const imagesDir = join(projectDir, 'docs/images');

if (!existsSync(report)) {
  console.error(`There is no ${report}: make one with npm start.`);
  process.exit(2);
}
mkdirSync(imagesDir, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
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
  await page.goto(pathToFileURL(report).href);
  // A screenshot ends where its section does: this gives it an edge.
  await page.addStyleTag({ content: 'section { padding: 0 16px 16px }' });
  for (const [name, { heading, without }] of Object.entries(pictures)) {
    await takePicture(page, heading, without, join(imagesDir, name));
  }
} finally {
  await browser.close();
}

async function takePicture(page: Page, heading: string, without: string[], file: string) {
  const section = page.locator('section', { has: page.getByRole('heading', { name: heading, exact: true }) });
  for (const drill of without) {
    await section.locator('figure', { hasText: `${drill}:` }).evaluate((figure) => figure.remove());
  }
  await section.screenshot({ path: file, animations: 'disabled' });
  console.log(`${relative(projectDir, file)}, ${Math.round(statSync(file).size / 1000)} kB`);
}
