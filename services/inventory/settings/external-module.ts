// A module with a lock that is not part of the project. It is loaded without any of the service, which takes long to load.

import { basename, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CreateLock } from '../../../locks/lock.ts';
import { describe, ExternalLockFault } from '../problem.ts';

export interface ExternalLockModule {
  /** What LOCK_VERSION, reports and its Redis key call it. */
  name: string;
  file: string;
}

/** The name of the lock in a file: `my-lock` for `/home/me/my-lock.ts`. */
export function nameOfExternalLock(file: string): string {
  return basename(file, extname(file));
}

export type ExternalModule = Awaited<ReturnType<typeof readExternalModule>>;

/** Loads the module. Rejects with ExternalLockFault when it can't be loaded, or exports no `createLock`. May never settle. */
export async function readExternalModule(file: string) {
  const exported = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new ExternalLockFault(`its import fails: ${describe(error)}`);
  });
  // A module that was compiled to CommonJS may arrive in `default`.
  const own = (name: string): unknown => exported[name] ?? exported.default?.[name];
  const createLock = own('createLock');
  if (createLock === undefined) throw new ExternalLockFault('it exports no createLock');
  if (typeof createLock !== 'function')
    throw new ExternalLockFault(`its createLock is no function: ${describe(createLock)}`);
  return {
    createLock: createLock as CreateLock,
    promises: own('promises'),
    doesNotPromise: own('doesNotPromise'),
  };
}
