// Finds the source file and line of an error that a bundle has thrown.

import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { isOfPackage } from './of-package.ts';

/** What is known of a bundle, by the number in its name. */
interface Kept {
  /** The folder of its entry. */
  folder: string;
  /** The source map, as esbuild has made it: it is read when somebody asks. */
  map: string;
}

const bundles: Kept[] = [];
const read = new Map<Kept, SourceMap>();
/** So a bundle is named in the stack of an error. */
const NAME = 'lockstep-bundle-';
/** `new Function` puts so many lines before the text that it is given. */
const LINES_BEFORE = 2;
/** What JavaScript itself throws: a mistake in the code, and no answer of a lock. */
const mistakes = [TypeError, ReferenceError, RangeError, SyntaxError];

/** Keeps the source map of a bundle. Returns the line that its text must have, so that errors lead to it. */
export function keepMap(kept: Kept): string {
  bundles.push(kept);
  return `//# sourceURL=${NAME}${bundles.length - 1}`;
}

/** The message of an error; for a bug in a bundle with its place: `redis.sett is not a function (workshop/mine/04-ttl/lock.ts:8)`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = mistakes.some((kind) => error instanceof kind) ? placeIn(error.stack ?? '') : undefined;
  return place === undefined ? error.message : `${error.message} (${place})`;
}

/** The newest call in the folder of the entry; where there is none, the newest call in any source. */
function placeIn(stack: string): string | undefined {
  const places = [...stack.matchAll(new RegExp(`${NAME}(\\d+):(\\d+):(\\d+)`, 'g'))].flatMap(([, ...numbers]) => {
    const [number = 0, line = 0, column = 0] = numbers.map(Number);
    const kept = bundles[number];
    const place = kept && sourceOf(kept, line - 1 - LINES_BEFORE, column - 1);
    return place ? [{ ...place, isOwn: dirname(place.file) === kept.folder }] : [];
  });
  const place = places.find(({ isOwn }) => isOwn) ?? places[0];
  if (place === undefined) return undefined;
  const shown = relative(process.cwd(), place.file);
  return `${shown.startsWith('..') ? place.file : shown}:${place.line}`;
}

/**
 * The file and the line, from 1, of a place in a bundle; none for what is no file of the lab or of its user. Its line and column are counted
 * from 0.
 */
function sourceOf(kept: Kept, line: number, column: number) {
  const map = read.get(kept) ?? new SourceMap(JSON.parse(kept.map));
  read.set(kept, map);
  const entry = map.findEntry(line, column);
  if (!('originalSource' in entry) || entry.originalSource.startsWith('given:')) return undefined;
  const file = resolve(kept.folder, entry.originalSource);
  return isOfPackage(file) ? undefined : { file, line: entry.originalLine + 1 };
}
