// The folder that a run writes: `reports/<time>/`.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { type Results, resultsSchema } from '../evidence/results.ts';
import { renderPage } from '../report/page.ts';

/** The folder of one run: `reports/<time>/`. */
export interface RunFolder {
  dir: string;
  /** Keeps a drill's raw events, a JSON line each, compressed; no file where there are none. */
  writeEvents(stage: string, drill: string, events: SaleEvent[]): void;
  /** Writes `results.json` and `report.html`, and points `reports/latest` at this run if any drill came to its end. */
  finish(results: Results): void;
}

/** Creates the folder of a run that started at `startedAt`. */
export function createRunFolder(reportsDir: string, startedAt: Date): RunFolder {
  const dir = folderOf(reportsDir, startedAt);
  mkdirSync(join(dir, 'events'), { recursive: true });

  return {
    dir,
    writeEvents(stage, drill, events) {
      if (events.length === 0) return;
      const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
      writeFileSync(join(dir, 'events', `${stage}.${drill}.ndjson.gz`), gzipSync(lines));
    },
    finish(results) {
      writeFileSync(join(dir, 'results.json'), `${JSON.stringify(resultsSchema.parse(results), null, 2)}\n`);
      writeFileSync(join(dir, 'report.html'), renderPage(results));
      // A run that was stopped before its first figure must not hide the last one that has some.
      if (results.stages.length === 0) return;
      pointAt(reportsDir, 'latest', dir);
    },
  };
}

/** Makes `reports/<name>` lead to the folder of a run. */
export function pointAt(reportsDir: string, name: string, dir: string) {
  const link = join(reportsDir, name);
  // Renamed into its place, so that two runs that end together do not disturb each other.
  const next = `${link}.${process.pid}`;
  symlinkSync(relative(reportsDir, dir), next);
  renameSync(next, link);
}

/** `reports/<time>` for a run that started at `startedAt`. */
export function folderOf(reportsDir: string, startedAt: Date): string {
  return join(reportsDir, startedAt.toISOString().replace(/[:.]/g, '-'));
}
