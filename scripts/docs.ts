// npm run docs: updates the generated parts of docs/: from the code, the questions and the scenarios.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../stack/parts.ts';
import { chapterNow } from '../workshop/teaching/chapter.ts';
import { newCommand } from './command-line/command.ts';
import { AS_EXPECTED, endWith } from './command-line/ending.ts';
import { reference } from './reference/index.ts';

newCommand('docs', [], {}).parse();

await endWith('The pages could not be updated', async () => {
  const pages = readdirSync(join(projectDir, 'docs'), { recursive: true, encoding: 'utf8' });
  for (const page of pages.filter((name) => name.endsWith('.md')).map((name) => join('docs', name))) {
    const now = await chapterNow(page, reference).catch((error: Error) => {
      throw new Error(`${page}: ${error.message}`);
    });
    if (now === readFileSync(join(projectDir, page), 'utf8')) continue;
    writeFileSync(join(projectDir, page), now);
    console.log(`Updated ${page}.`);
  }
  return AS_EXPECTED;
});
