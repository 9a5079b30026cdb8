// Makes the picture of the final stock from the latest report of npm run staircase:
// npm run pictures [-- REPORTS]
// It needs Chromium: at /usr/bin/chromium, or where CHROMIUM says.

import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { browserPath } from './stack/browser.ts';
import { projectDir } from './stack/parts.ts';

/** Wide enough for two charts side by side, in CSS pixels. */
const WIDTH = 1200;

/** What stands under this heading, without the charts and tables of the drill on one node. */
const HEADING = 'The final stock';
const WITHOUT = 'one-node-rush';

const reports = resolve(process.argv[2] ?? join(projectDir, 'reports'));
const report = join(reports, 'latest/report.html');
const file = join(projectDir, 'docs/images/final-stock.png');

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
  await page.goto(pathToFileURL(report).href);
  // A screenshot ends where its section does: this gives it an edge.
  await page.addStyleTag({ content: 'section { padding: 0 16px 16px }' });
  const section = page.locator('section', { has: page.getByRole('heading', { name: HEADING, exact: true }) });
  await section.locator('figure, .scroll', { hasText: WITHOUT }).evaluateAll((parts) => {
    for (const part of parts) part.remove();
  });
  await section.screenshot({ path: file, animations: 'disabled' });
  console.log(`${relative(projectDir, file)}, ${Math.round(statSync(file).size / 1000)} kB`);
} finally {
  await browser.close();
}
