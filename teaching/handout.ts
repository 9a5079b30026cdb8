// npm run handout: writes the page to print and the slides, made of the stages as they are now.

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { AS_TAUGHT, COULD_NOT_RUN, runToEnd } from '../loadtest/commands/ending.ts';
import { projectDir } from '../scripts/stack/parts.ts';
import { handoutPage } from './handout-page.ts';
import { slidesPage } from './slides.ts';

const { reports } = new Command('npm run handout --')
  .description('Writes the page to print and the slides, each as one file that opens offline.')
  .option('--reports <folder>', 'where they go, in a folder teaching', join(projectDir, 'reports'))
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? AS_TAUGHT : COULD_NOT_RUN))
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
