// npm run handout: writes the page to print and the slides, made of the stages as they are now.

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { newCommand, reportsOption } from '../loadtest/commands/command-line.ts';
import { AS_TAUGHT, runToEnd } from '../loadtest/commands/ending.ts';
import { handoutPage } from './handout-page.ts';
import { slidesPage } from './slides.ts';

const { reports } = newCommand(
  'npm run handout',
  'Writes the page to print and the slides, each as one file that opens offline.',
)
  .addOption(reportsOption('where they go, in a folder teaching'))
  .parse()
  .opts<{ reports: string }>();

process.exitCode = await runToEnd('The pages could not be written', async () => {
  const dir = join(resolve(reports), 'teaching');
  mkdirSync(dir, { recursive: true });
  for (const [name, page] of Object.entries({ 'handout.html': handoutPage(), 'slides.html': slidesPage() })) {
    writeFileSync(join(dir, name), page);
    const kilobytes = Math.round(statSync(join(dir, name)).size / 1_000);
    console.log(`${relative(process.cwd(), join(dir, name))}, ${kilobytes} kB`);
  }
  return AS_TAUGHT;
});
