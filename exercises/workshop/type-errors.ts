// What TypeScript says of the files that attendees change. It decides no verdict: what runs is judged, whatever its types are.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectDir } from '../../scripts/stack/parts.ts';

/** The first type error of each file that has one, by the file: `mine/04-ttl/lock.ts:8: Property 'sett' does not exist …`. */
export type TypeErrors = (files: string[], signal: AbortSignal) => Promise<Map<string, string>>;

/** What is written without types, as plain JavaScript is, is no error. */
const leniently = '--strict false --strictNullChecks --skipLibCheck --allowImportingTsExtensions';
const asTheProject = '--target es2023 --lib es2023 --module esnext --moduleResolution bundler --types node';
/** It runs beside the search, and leaves it the other cores. */
const quietly = '--noEmit --pretty false --singleThreaded --ignoreConfig';
const options = `${leniently} ${asTheProject} ${quietly}`.split(' ');

/** A file and its place, the number of the error, and its first line. */
const ERROR = /^(.+)\((\d+),\d+\): error TS(\d+): (.*)$/gm;
/** Smaller numbers are errors of syntax: the verdict says those. */
const FIRST_OF_TYPES = 2_000;

/** Asks the compiler of the project. Nothing is found where it is not installed, or when the signal aborts first. */
export const typeErrors: TypeErrors = async (files, signal) => {
  const found = new Map<string, string>();
  const compiler = await findCompiler();
  const there = files.filter((file) => existsSync(file));
  if (compiler === undefined || there.length === 0) return found;
  const said = await new Promise<string>((settle) =>
    execFile(compiler, [...options, ...there], { cwd: projectDir, signal }, (_error, output) => settle(output)),
  );
  const unread = new Set<string>();
  for (const [, place = '', line, number, message] of said.matchAll(ERROR)) {
    const file = resolve(projectDir, place);
    if (!there.includes(file)) continue;
    if (Number(number) < FIRST_OF_TYPES) unread.add(file);
    else if (!found.has(file)) found.set(file, `${relative(projectDir, file)}:${line}: ${message}`);
  }
  // Where one file has an error of syntax, the compiler has looked at the types of none.
  const others = there.filter((file) => !unread.has(file));
  return unread.size === 0 ? found : typeErrors(others, signal);
};

/** The program itself: the script of the package starts it, and would leave it behind when it is ended. */
async function findCompiler(): Promise<string | undefined> {
  const finder = pathToFileURL(join(projectDir, 'node_modules/typescript/lib/getExePath.js'));
  try {
    const { default: getExePath }: { default: () => string } = await import(finder.href);
    return getExePath();
  } catch {
    return undefined;
  }
}
