// What is mutated: the files of which the locks are made, each under one lock that needs it.

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { projectDir } from '../../../stack/parts.ts';

/** In this order: a file that several need is judged under the first of them. */
export const subjects = [
  '8-auto-renew',
  '6-lua-release',
  '7-reentrant',
  'fenced',
  'blocking',
  'fair',
  'cohort',
  'semaphore',
  'redlock',
  'read-write',
  'bounded',
  'fenced-writes',
  'replicated',
  'delete-if-equal',
];

/** Files that are no part of a lock: names, errors, and what the service does besides. */
const isNoLock = (file: string) => /^locks\/(lock|strategy|index)\.ts$|answer-limit|under-permit|take-one/.test(file);

/** The files of each subject, from the project's folder. */
export function filesOfSubjects(): Map<string, string[]> {
  const taken = new Set<string>();
  return new Map(
    subjects.map((name) => {
      const own = [...filesFrom(relative(projectDir, lockNamed(name).file))].filter(
        (file) => !isNoLock(file) && !taken.has(file),
      );
      for (const file of own) taken.add(file);
      return [name, own];
    }),
  );
}

/** A file, and all that it imports of `locks/` and reads of `lua/`. */
function filesFrom(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(projectDir, file), 'utf8');
  for (const [, path = ''] of text.matchAll(/ from '(\.[^']+)'/g)) {
    filesFrom(relative(projectDir, fileURLToPath(new URL(path, `file://${projectDir}/${file}`))), found);
  }
  for (const [, name] of text.matchAll(/readScript(?:<[^>]*>)?\('([^']+)'\)/g)) found.add(`lua/${name}.lua`);
  return found;
}
