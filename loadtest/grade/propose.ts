// Proposes an adapter for a package without a shipped one: a file to read, correct and grade.

import { existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectDir } from '../../stack/parts.ts';
import { asClause, listOf } from '../narration/numbers.ts';
import { adapterText, assumedOf, foundOf } from './adapter-text.ts';
import { askProcess } from './own-process.ts';
import type { LookedAt } from './try-package.ts';

/** How long the trial of a package may take, in milliseconds. */
const TRY_LIMIT_MS = 120_000;
/** How many names of exports are listed. */
const MOST_NAMES = 12;

export interface Proposed {
  /** The file that was written, and what is said of it: sentences. */
  file?: string;
  says: string;
}

/** The file of the adapter for a package: `microfleet-ioredis-lock-adapter.mts`. */
export const nameOfAdapter = (name: string): string =>
  `${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-$/g, '')}-adapter.mts`;

/**
 * Looks at a package that is installed in `folder`, and writes an adapter in the folder `into`, from which the package is imported. It
 * never overwrites a file. `only` is the export to look at.
 */
export async function proposeAdapter(name: string, folder: string, into: string, only?: string): Promise<Proposed> {
  const file = join(into, nameOfAdapter(name));
  const command = `npm run grade -- ./${nameOfAdapter(name)}`;
  if (existsSync(file)) {
    return { file, says: `${nameOfAdapter(name)} already exists and was not changed. Grade it:\n\n${command}` };
  }
  const args = [folder, name, ...(only ? [only] : [])];
  const found = await askProcess<LookedAt>('loadtest/grade/try-package.ts', args, TRY_LIMIT_MS);
  if (!('names' in found)) return { says: `${name} could not be loaded: ${found.problem}.\n${KIT}` };
  const { shape, version, entry, names, namedOnes, nodeRedis, untried } = found;
  if (shape === undefined || entry === undefined) return { says: saidOfUnknown(name, names, untried, only) };
  const pathTo = (place: string) => {
    const path = relative(into, place);
    return path.startsWith('.') ? path : `./${path}`;
  };
  const isBeside = folder === into;
  const text = adapterText(shape, {
    title: `${name} ${version}`,
    imports: {
      library: isBeside ? name : pathTo(entry),
      kit: pathTo(join(projectDir, 'loadtest/peers/adapter.ts')),
      nodeRedis: isBeside || nodeRedis === undefined ? 'redis' : pathTo(nodeRedis),
    },
    command,
    isNamed: namedOnes.includes(shape.exported),
  });
  writeFileSync(file, text, { flag: 'wx' });
  const assumed = assumedOf(shape).join(' ');
  return {
    file,
    says: `An adapter was proposed: ${nameOfAdapter(name)}.
Found: ${foundOf(shape)}.
Assumed: ${assumed}
Read it, change it where it is wrong, and grade it:

${command}`,
  };
}

const KIT = 'Write an adapter with the kit, loadtest/peers/adapter.ts: docs/how-to/grade.md shows how.';

function saidOfUnknown(name: string, names: string[], untried?: string, only?: string): string {
  const more = names.length - MOST_NAMES;
  const shown = [...names.slice(0, MOST_NAMES), ...(more > 0 ? [`${more} more`] : [])];
  const exported = names.length > 0 ? `It exports ${listOf(shown)}.` : 'Its exports could not be read.';
  const why = untried
    ? `${name} could not be tried in the simulation: ${asClause(untried)}.`
    : `${only ? `${only} of ${name}` : name} was tried, but no call acquired a lock in Redis and released it.`;
  const real = untried ? ' Grade such a lock on real servers, with --real.' : '';
  return `${why} ${exported}\n${KIT}${real}`;
}
