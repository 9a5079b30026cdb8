// Writes the report.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Results } from '../evidence/results.ts';
import { renderPage } from './page.ts';

/** Writes `report.html` into `dir`, which is made when it is missing. */
export async function writeReport(results: Results, dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'report.html'), renderPage(results));
}
