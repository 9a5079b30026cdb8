// Writes the report.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Proof } from '../evidence/proof.ts';
import type { Results } from '../evidence/results.ts';
import { renderPage } from './page.ts';

/** Writes `report.html` into `dir`, which is made when it is missing. The marks of a `proof` stand in the page. */
export async function writeReport(results: Results, dir: string, proof?: Proof): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'report.html'), renderPage(results, proof));
}
