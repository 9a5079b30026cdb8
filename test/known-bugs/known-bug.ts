// Locks with a bug that is known from practice: each is a built-in lock, or a correct one, with one change.

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Promises } from '../../loadtest/evidence/promises.ts';
import { projectDir } from '../../stack/parts.ts';
import type { Edit } from '../edits.ts';
import { mutate } from '../mutations/mutation.ts';

/** A lock of ours, or a correct one, as a module of its own. */
export interface LockToGrade {
  /** In kebab-case: the name of its row. */
  name: string;
  /** The file of the lock that it is in, from the project's folder. */
  lock: string;
  /** The texts that are replaced. Each must occur exactly once in its file: the lock itself when no other is named. */
  changes: Edit[];
  /** What the lock says of itself, where that is not what the lock says that it is compared with. */
  promises?: Promises;
  /** The lock that it is compared with, where that is not the one in the same file. */
  control?: string;
}

/** One with a bug in it. */
export interface KnownBug extends LockToGrade {
  /** What is wrong with it: one sentence. */
  why: string;
  /** What catches it by name: a check of the contract, or where none can, a drill or a scope of the search. Others may catch it as well. */
  caughtBy: string;
}

/**
 * Writes the lock with its bug, as a module of its own beside copies of what it imports, that promises this. Returns the path of the module. Throws
 * when the sources no longer have a text that is replaced.
 */
export function writeKnownBug({ name, lock, changes }: LockToGrade, promises: Promises, dir: string): string {
  const copy = join(dir, `${name}-files`);
  // From a try before.
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const folder of ['locks', 'lua', 'test/known-bugs'])
    cpSync(join(projectDir, folder), join(copy, folder), { recursive: true });
  symlinkSync(join(projectDir, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }\n');
  for (const { file = lock, find, replace } of changes) {
    const path = join(copy, file);
    writeFileSync(path, mutate(readFileSync(path, 'utf8'), { file, find, replace }));
  }
  const module = join(dir, `${name}.ts`);
  writeFileSync(
    module,
    `export { createLock } from './${name}-files/${lock}';\nexport const promises = ${JSON.stringify(promises)};\n`,
  );
  return module;
}
