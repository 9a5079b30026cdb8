// Replaces simulation/bundle.ts in the page: a lock's imports are already bundled, so only its types are stripped.

import { transform } from 'sucrase';
import { z } from 'zod';
import type { Entry, Given } from '../../simulation/bundle.ts';
import { brokenLine, saying } from './line-marks.ts';
import { createHash } from './shims/crypto.ts';
import { readFileSync } from './shims/fs.ts';
import { packed } from './shims/packed.ts';

export const systemModules = {};

/** An error at a line of a lock. */
export class LineError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** The position of a lock in its bundle's text. */
interface Place {
  file: string;
  linesBefore: number;
  lines: number;
}

/** By bundle text. */
const places = new Map<string, Place>();
/** How many lines `new Function` puts before its text. */
const LINES_BEFORE = 2;
const linesIn = (text: string) => text.split('\n').length;

/** The entry's lock, alone or with the service, as one text for `evaluator`. Rejects with a clause that says why that is impossible. */
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

/** A module with its types stripped and `import` replaced by `require`. Line numbers stay the same. */
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

/** Re-evaluates a bundle at each call, like the original. Errors of the lock are reported with their line. */
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
      return evaluate({ ...given, onFault, z, createHash, readFileSync }, ...values);
    } catch (error) {
      const line = lineOf(error, place);
      throw line === undefined ? error : new LineError((error as Error).message, line);
    }
  };
}

/** The line of the lock where an error was thrown. Undefined if it was thrown elsewhere, like error replies from Redis. */
function lineOf(error: unknown, { file, linesBefore, lines }: Place): number | undefined {
  const stack = error instanceof Error ? String(error.stack) : '';
  const calls = stack.matchAll(new RegExp(`${file}:(\\d+)`, 'g'));
  return [...calls].map(([, line]) => Number(line) - linesBefore).find((line) => line > 0 && line <= lines);
}
