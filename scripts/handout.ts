// npm run handout: writes a handout to print, in English and in Chinese, from the lesson's texts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { handoutPage } from '../workshop/teaching/handout-page.ts';
import { newCommand } from './command-line/command.ts';
import { AS_EXPECTED, endWith } from './command-line/ending.ts';

const { reports } = newCommand('handout', ['reports'], {
  reports: { help: 'output folder; the pages go into its subfolder teaching' },
})
  .parse()
  .opts<{ reports: string }>();

await endWith('The handout could not be written', async () => {
  const dir = join(resolve(reports), 'teaching');
  mkdirSync(dir, { recursive: true });
  for (const [name, page] of [
    ['handout.html', handoutPage('en')],
    ['handout.zh-CN.html', handoutPage('zh-CN')],
  ] as const) {
    writeFileSync(join(dir, name), page);
    console.log(relative(process.cwd(), join(dir, name)));
  }
  return AS_EXPECTED;
});
