// simulation/bundle.ts in the page: what a lock imports is bundled already, and a lock only loses its types.

import { transform } from 'sucrase';
import type { Entry, Given } from '../../simulation/bundle.ts';
import { brokenLine, saying } from './line-marks.ts';
import { createHash } from './shims/crypto.ts';
import { readFileSync } from './shims/fs.ts';
import { packed } from './shims/packed.ts';

export const systemModules = {};

/** The lock that the entry names, alone or with the service, as one text for `evaluator`. Rejects with a clause that says why it can't be. */
export async function bundle({ lock, beside }: Entry): Promise<string> {
  const code = commonJs(saying(String(readFileSync(lock))));
  return `${beside ? packed.service : packed.imports}
    const lockFile = {};
    (function (require, exports, $line) {${code}\n})(service.requireLocks, lockFile, given.atLine);
    const exported = ${beside ? '{ startService: service.startService, lockFile }' : 'lockFile'};
    //# sourceURL=${lock}\n`;
}

/** A module without its types, and with `require` for `import`. Each line stays where it is. */
function commonJs(source: string): string {
  try {
    return transform(source, { transforms: ['typescript', 'imports'], disableESTransforms: true }).code;
  } catch (error) {
    // Of an arrow function in which something is wrong it names the line that the function begins in.
    const { message } = error as Error;
    throw new Error(message.replace(/ \((\d+):\d+\)$/, (_, line) => ` (line ${brokenLine(source) ?? line})`));
  }
}

export { readFileSync as readOnce } from './shims/fs.ts';

/** Evaluates a bundle anew at each call, as its model does. */
export function evaluator<Exports>(text: string, names: string[]): (given: Given, values: unknown[]) => Exports {
  const evaluate = new Function('given', ...names, `${text}return exported;`);
  return (given, values) => evaluate({ ...given, createHash, readFileSync }, ...values);
}
