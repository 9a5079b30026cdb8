// The folder that a run writes: `reports/<time>/`.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { SaleEvent } from '../../services/inventory/sale/contract.ts';

export type RunFolder = ReturnType<typeof createRunFolder>;

/** Creates the folder of a run that started at `startedAt`. */
export function createRunFolder(reportsDir: string, startedAt: Date) {
  const dir = join(reportsDir, startedAt.toISOString().replace(/[:.]/g, '-'));
  mkdirSync(dir, { recursive: true });

  return {
    dir,
    write: (file: string, content: string) => writeFileSync(join(dir, file), content),
    /** Keeps a drill's raw events, a JSON line each, compressed; no file where there are none. */
    writeEvents(stage: string, drill: string, events: SaleEvent[]) {
      if (events.length === 0) return;
      const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
      mkdirSync(join(dir, 'events'), { recursive: true });
      writeFileSync(join(dir, 'events', `${stage}.${drill}.ndjson.gz`), gzipSync(lines));
    },
    /** Makes `reports/<name>` lead here. */
    pointAt(name: string) {
      const link = join(reportsDir, name);
      // Renamed into its place, so that two runs that end together do not disturb each other.
      const next = `${link}.${process.pid}`;
      symlinkSync(relative(reportsDir, dir), next);
      renameSync(next, link);
    },
  };
}

/** As it is written, and printed with `--json`. */
export const jsonOf = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
