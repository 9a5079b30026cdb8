// simulation/bundle.ts in the page: what a lock imports is bundled already, and a lock only loses its types.

import { transform } from 'sucrase';
import type { Entry, Given } from '../../simulation/bundle.ts';
import { brokenLine, saying } from './line-marks.ts';
import { createHash } from './shims/crypto.ts';
import { readFileSync } from './shims/fs.ts';
import { packed } from './shims/packed.ts';

export const systemModules = {};

/** Something is wrong at this line of a lock. */
export class LineError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** Where a lock is in the text of its bundle. */
interface Place {
  file: string;
  linesBefore: number;
  lines: number;
}

/** By the texts of the bundles. */
const places = new Map<string, Place>();
/** `new Function` puts so many lines before the text that it is given. */
const LINES_BEFORE = 2;
const linesIn = (text: string) => text.split('\n').length;

/** The lock that the entry names, alone or with the service, as one text for `evaluator`. Rejects with a clause that says why it can't be. */
export async function bundle({ lock, beside }: Entry): Promise<string> {
  const code = commonJs(saying(String(readFileSync(lock))));
  const before = `${beside ? packed.service : packed.imports}
    const lockFile = {};
    const startService = (lock, options) => service.startService(lock, { ...options, onFault: given.onFault });
    (function (require, exports, $line) {`;
  const text = `${before}${code}\n})(service.requireLocks, lockFile, given.atLine);
    const exported = ${beside ? '{ startService, lockFile }' : 'lockFile'};
    //# sourceURL=${lock}\n`;
  places.set(text, { file: lock, linesBefore: LINES_BEFORE + linesIn(before) - 1, lines: linesIn(code) });
  return text;
}

/** A module without its types, and with `require` for `import`. Each line stays where it is. */
function commonJs(source: string): string {
  try {
    return transform(source, { transforms: ['typescript', 'imports'], disableESTransforms: true }).code;
  } catch (error) {
    const [where, line] = / \((\d+):\d+\)$/.exec((error as Error).message) ?? [''];
    // Of an arrow function in which something is wrong it names the line that the function begins in.
    throw new LineError((error as Error).message.replace(where, ''), brokenLine(source) ?? Number(line));
  }
}

export { readFileSync as readOnce } from './shims/fs.ts';

/** Evaluates a bundle anew at each call, as its model does. What the lock throws is told by the line where it does. */
export function evaluator<Exports>(text: string, names: string[]): (given: Given, values: unknown[]) => Exports {
  const evaluate = new Function('given', ...names, `${text}return exported;`);
  const place = places.get(text) as Place;
  return (given, values) => {
    const atLine = given['atLine'] as (line: number) => void;
    function onFault(error: unknown) {
      const line = lineOf(error, place);
      if (line !== undefined) atLine(line);
    }
    try {
      return evaluate({ ...given, onFault, createHash, readFileSync }, ...values);
    } catch (error) {
      const line = lineOf(error, place);
      throw line === undefined ? error : new LineError((error as Error).message, line);
    }
  };
}

/** The line of the lock where an error was thrown. Undefined when it was thrown elsewhere: what Redis answers is. */
function lineOf(error: unknown, { file, linesBefore, lines }: Place): number | undefined {
  const stack = error instanceof Error ? String(error.stack) : '';
  const calls = stack.matchAll(new RegExp(`${file}:(\\d+)`, 'g'));
  return [...calls].map(([, line]) => Number(line) - linesBefore).find((line) => line > 0 && line <= lines);
}
