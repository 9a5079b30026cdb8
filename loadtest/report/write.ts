// Writes the report.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Proof } from '../evidence/proof.ts';
import type { Results } from '../evidence/results.ts';
import { renderMarkdown } from './markdown.ts';
import { renderPage } from './page.ts';

/** Writes `report.html` and `report.md` into `dir`, which is made when it is missing. The marks of a `proof` stand in the page. */
export async function writeReport(results: Results, dir: string, proof?: Proof): Promise<void> {
  await mkdir(dir, { recursive: true });
  await Promise.all([
    writeFile(join(dir, 'report.html'), renderPage(results, proof)),
    writeFile(join(dir, 'report.md'), renderMarkdown(results)),
  ]);
}
