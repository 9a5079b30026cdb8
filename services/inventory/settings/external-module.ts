// A module with an external lock. This file does not import the service, which takes long to load.

import { basename, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CreateLock } from '../../../locks/lock.ts';
import { describe, ExternalLockFault } from '../problem.ts';

export interface ExternalLockModule {
  /** Its name in LOCK_VERSION, in reports and in its Redis key. */
  name: string;
  file: string;
}

/** The lock's name by its file: `my-lock` for `/home/me/my-lock.ts`. */
export function nameOfExternalLock(file: string): string {
  return basename(file, extname(file));
}

export type ExternalModule = Awaited<ReturnType<typeof readExternalModule>>;

/** Loads the module. Rejects with ExternalLockFault if it can't be loaded or does not export `createLock`. May never settle. */
export async function readExternalModule(file: string) {
  const exported = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new ExternalLockFault(`importing it fails: ${describe(error)}`);
  });
  // A module that was compiled to CommonJS may arrive in `default`.
  const own = (name: string): unknown => exported[name] ?? exported.default?.[name];
  const createLock = own('createLock');
  if (createLock === undefined) throw new ExternalLockFault('it does not export createLock');
  if (typeof createLock !== 'function')
    throw new ExternalLockFault(`its createLock is not a function: ${describe(createLock)}`);
  return {
    createLock: createLock as CreateLock,
    promises: own('promises'),
    doesNotPromise: own('doesNotPromise'),
  };
}
