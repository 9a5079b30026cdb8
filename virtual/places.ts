// Where in its sources an error of a bundle was thrown.

import { dirname, relative, resolve } from 'node:path';
import { decode, type SourceMapMappings } from '@jridgewell/sourcemap-codec';

/** What is known of a bundle, by the number in its name. */
interface Kept {
  /** The folder of its entry. */
  folder: string;
  /** The source map, as esbuild has made it: it is read when somebody asks. */
  map: string;
}

interface ReadMap {
  /** The absolute paths of the sources; none for what is no file. */
  sources: (string | undefined)[];
  lines: SourceMapMappings;
}

const bundles: Kept[] = [];
const read = new Map<Kept, ReadMap>();
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

/** What an error says; a mistake in the code of a bundle with its place: `redis.sett is not a function (mine/04-ttl/lock.ts:8)`. */
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

/** The file and the line, from 1, of a place in a bundle. Its line and column are counted from 0. */
function sourceOf(kept: Kept, line: number, column: number) {
  const { sources, lines } = readMap(kept);
  const [, source = -1, sourceLine = 0] = lines[line]?.findLast(([at]) => at <= column) ?? [];
  const file = sources[source];
  return file === undefined ? undefined : { file, line: sourceLine + 1 };
}

function readMap(kept: Kept): ReadMap {
  const found = read.get(kept);
  if (found) return found;
  const { sources, mappings }: { sources: string[]; mappings: string } = JSON.parse(kept.map);
  const isFile = (source: string) => !source.startsWith('given:') && !source.includes('node_modules/');
  const made = {
    sources: sources.map((source) => (isFile(source) ? resolve(kept.folder, source) : undefined)),
    lines: decode(mappings),
  };
  read.set(kept, made);
  return made;
}
