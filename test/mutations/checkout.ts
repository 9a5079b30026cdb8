// A copy of a checkout, in which a source file may be broken without harm.

import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Mutation, mutate } from './mutation.ts';

const NOT_COPIED = ['node_modules', '.git', '.env', 'reports', 'coverage'];

export interface Checkout {
  dir: string;
  /** Where the tests of this copy put their temporary files. */
  tmp: string;
  /** Has `work` done while the mutation is in its file. Throws StaleMutationError, and then does nothing. */
  withMutation<T>(mutation: Mutation, work: () => Promise<T>): Promise<T>;
}

/** Copies the checkout in `from` to the folder `dir`. Its packages are linked. */
export function copyCheckout(from: string, dir: string): Checkout {
  const isCopied = (path: string) =>
    !relative(from, path)
      .split('/')
      .some((name) => NOT_COPIED.includes(name));
  cpSync(from, dir, { recursive: true, filter: isCopied });
  linkPackages(join(from, 'node_modules'), join(dir, 'node_modules'));
  const peers = 'loadtest/peers/node_modules';
  if (isFolder(join(from, peers))) symlinkSync(join(from, peers), join(dir, peers));
  const tmp = join(dir, 'tmp');
  mkdirSync(tmp);

  return {
    dir,
    tmp,
    async withMutation(mutation, work) {
      const path = join(dir, mutation.file);
      const source = readFileSync(path, 'utf8');
      writeFileSync(path, mutate(source, mutation));
      try {
        return await work();
      } finally {
        writeFileSync(path, source);
      }
    },
  };
}

/** Each package by itself: what the tests keep in `node_modules/.cache` is of this copy, and must not reach another. */
function linkPackages(from: string, to: string) {
  mkdirSync(to, { recursive: true });
  const packages = readdirSync(from).filter((name) => !name.startsWith('.') || name === '.bin');
  for (const name of packages) symlinkSync(join(from, name), join(to, name));
}

function isFolder(path: string) {
  try {
    return readdirSync(path).length > 0;
  } catch {
    return false;
  }
}
