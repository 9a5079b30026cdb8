// simulation/bundle.ts in the page: what a lock imports is bundled already, and a lock only loses its types.

import { transform } from 'sucrase';
import type { Entry, Given } from '../../simulation/bundle.ts';
import { brokenLine, saying } from './saying.ts';
import { createHash } from './shims/crypto.ts';
import { readFileSync } from './shims/fs.ts';
import { packed } from './shims/packed.ts';

export const systemModules = {};

/** A lock for the search, or the service and the lock that the entry names, as one text for `evaluator`. Rejects with a clause that says why it can't be. */
export async function bundle(entry: Entry): Promise<string> {
  const [, name = '""'] = ('text' in entry && /export \* as lockFile from (".*");/.exec(entry.text)) || [];
  const file: string = 'file' in entry ? entry.file : JSON.parse(name);
  const lock = commonJs(saying(String(readFileSync(file))));
  return `${'file' in entry ? packed.imports : packed.service}
    const lockFile = {};
    (function (require, exports, $line) {${lock}\n})(service.requireLocks, lockFile, given.atLine);
    const exported = ${'file' in entry ? 'lockFile' : '{ startService: service.startService, lockFile }'};
    //# sourceURL=${file}\n`;
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
