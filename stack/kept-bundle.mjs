// Where bundles are kept, and whether a bundle is still up to date with its sources.
// Plain JavaScript: a command line reads it before anything of the project has been bundled.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectDir = fileURLToPath(new URL('..', import.meta.url));
/** The cache for everything that takes long to make. Packages resolve from here as from the project's own files, and git ignores it. */
export const cacheDir = join(projectDir, 'node_modules/.cache/lockstep');
/** True when the project was installed as a package and is not a clone: runs write elsewhere then. */
export const isInstalled = basename(dirname(projectDir)) === 'node_modules';

/** The start of a bundle's last line, which lists its sources. */
export const MADE_OF = '//# made of ';

/**
 * What a bundle was made of.
 *
 * @typedef {object} MadeOf
 * @property {string} project The folder of the project: the paths in the bundle begin with it.
 * @property {Record<string, string>} files The state of each file, by its path in the project.
 * @property {string} [packages] The file of its heavy packages, where it has any.
 */

/**
 * The file of the bundle of one of the project's TypeScript files.
 *
 * @param {string} file
 */
export const keptFile = (file) => join(cacheDir, `${file}.mjs`);

/**
 * Whether the bundle is there, and all that it was made of is as it was then.
 *
 * @param {string} path
 */
export function isUpToDate(path) {
  if (!existsSync(path)) return false;
  const lastLine = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  if (!lastLine.startsWith(MADE_OF)) return false;
  /** @type {MadeOf} */
  const { project, files, packages } = JSON.parse(lastLine.slice(MADE_OF.length));
  if (packages !== undefined && !existsSync(packages)) return false;
  return project === projectDir && Object.entries(files).every(([file, state]) => stateOf(file) === state);
}

/**
 * When a file was last changed and how long it is; no state that it will have again if it was changed after `startedAt`. The time
 * is not that of its last modification, which npm sets to one and the same for every file of every package.
 *
 * @param {string} file
 */
export function stateOf(file, startedAt = Number.POSITIVE_INFINITY) {
  const stats = statSync(join(projectDir, file), { throwIfNoEntry: false });
  if (stats === undefined) return 'none';
  return stats.ctimeMs < startedAt ? `${stats.ctimeMs} ${stats.size}` : 'saved meanwhile';
}
