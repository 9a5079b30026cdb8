// Finds programs on the PATH.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The full path of the first of these programs that is on the PATH, or in the `sbin` next to a `bin` of it. */
export function findOnPath(...programs: string[]): string | undefined {
  const dirs = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  // Debian keeps servers where only root's PATH looks.
  const sbins = dirs.filter((dir) => dir.endsWith('/bin')).map((dir) => dir.replace(/bin$/, 'sbin'));
  return programs.flatMap((program) => [...dirs, ...sbins].map((dir) => join(dir, program))).find(isExecutable);
}

/** The browser for pictures and page tests: /usr/bin/chromium, or the one that CHROMIUM names. */
export const browserPath = () => process.env['CHROMIUM'] || '/usr/bin/chromium';

function isExecutable(file: string) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
