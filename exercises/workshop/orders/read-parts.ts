// Loads the file that brings parts of the orders, and says in a clause what is wrong with it.

import { pathToFileURL } from 'node:url';
import { describe } from '../../../services/inventory/describe.ts';
import type { ExternalParts } from './contract.ts';

const names = ['answerOnce', 'cleanUp', 'takePayment'] as const satisfies (keyof ExternalParts)[];

/** Rejects with an error whose message is a clause when the module can't be loaded, or exports no part. May never settle. */
export async function readParts(file: string): Promise<ExternalParts> {
  const exported = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new Error(`its import fails: ${describe(error)}`);
  });
  const found = names.flatMap((name) => (exported[name] === undefined ? [] : [[name, exported[name]] as const]));
  if (found.length === 0) throw new Error(`it exports none of ${names.join(', ')}`);
  for (const [name, part] of found) {
    if (typeof part !== 'function') throw new Error(`its ${name} is no function: ${describe(part)}`);
  }
  return Object.fromEntries(found);
}
