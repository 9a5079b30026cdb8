// One bundler for all that runs in virtual time: code becomes one text, which is evaluated afresh for each process.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { keepMap } from './places.ts';

/** A file, or a text that imports files from the folder. */
export type Entry = { file: string } | { text: string; folder: string };

/** Packages that are installed beside the lab. */
export interface Packages {
  /** The folder in whose `node_modules` they are. */
  folder: string;
  /** What they are called there, by the names by which they are imported. */
  names: Record<string, string>;
}

export interface BundleOptions {
  /** What a module of Node, or ioredis, is instead, by its name. Its text may use `given`. */
  modules: Record<string, string>;
  /** What is said of an import of any other. */
  refusal: (module: string) => string;
  /** Where packages are that are not found from the entry. */
  packages?: Packages | undefined;
  /** Packages are for Node, ioredis too: as they are, on the modules that they are given. */
  isForNode?: boolean;
}

/** The world of one process: what its modules ask for, and the globals that are replaced. */
export interface Given {
  sleep: unknown;
  uuid: unknown;
  [more: string]: unknown;
}

/** What code may ask the system for, as modules whose parts the world brings. */
export const systemModules: Record<string, string> = {
  'node:timers/promises': 'export const setTimeout = given.sleep;',
  'node:fs': 'export const readFileSync = given.readFileSync;',
  'node:crypto': 'export const createHash = given.createHash; export const randomUUID = given.uuid;',
};

/** Node's own modules. Other packages are bundled, as far as they ask for none of these; the client of Redis only where it can be. */
const ofSystem = ['node:.*', ...builtinModules].join('|');
const builtin = new Set(builtinModules);

/** A package is looked for by esbuild itself. */
const LOOKED = 'looked';
const throwing = (message: string) =>
  `throw Object.assign(new Error(${JSON.stringify(message)}), { code: 'MODULE_NOT_FOUND' });`;

const replacing = ({ modules, refusal, packages, isForNode = false }: BundleOptions): Plugin => ({
  name: 'virtual',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: new RegExp(`^(${ofSystem}${isForNode ? '' : '|ioredis'})$`) }, ({ path }) => {
      const name = builtin.has(path) && !path.startsWith('node:') ? `node:${path}` : path;
      if (modules[name] === undefined) return { errors: [{ text: refusal(path) }] };
      return { path: name, namespace: 'given' };
    });
    // What a package asks for and does without, such as an optional dependency, is missing when it is asked for: as in Node.
    onResolve({ filter: /^[^./]/ }, async ({ path, importer, pluginData, ...more }) => {
      if (pluginData === LOOKED) return undefined;
      const isInPackage = /[/\\]node_modules[/\\]/.test(importer);
      const name = packages?.names[path];
      if (packages && name !== undefined && !isInPackage) {
        return resolve(name, { ...more, resolveDir: packages.folder, pluginData: LOOKED });
      }
      if (!isInPackage) return undefined;
      const found = await resolve(path, { importer, ...more, pluginData: LOOKED });
      return found.errors.length === 0 ? found : { path, namespace: 'missing' };
    });
    onLoad({ filter: /.*/, namespace: 'missing' }, ({ path }) => ({
      contents: throwing(`Cannot find module '${path}'`),
    }));
    onLoad({ filter: /\.node$/ }, ({ path }) => ({
      contents: throwing(`the virtual world has no native code (${basename(path)})`),
    }));
    onLoad({ filter: /.*/, namespace: 'given' }, ({ path }) => ({ contents: modules[path] ?? '', loader: 'js' }));
    // A module that asks where it is gets the place of its source.
    onLoad({ filter: /\.[cm]?[jt]s$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8').replace(/import\.meta\.url/g, JSON.stringify(pathToFileURL(path).href));
      const place = /\b__(dir|file)name\b/.test(source)
        ? `const __filename = ${JSON.stringify(path)}, __dirname = ${JSON.stringify(dirname(path))};`
        : '';
      return { contents: place + source, loader: path.endsWith('ts') ? 'ts' : 'js', resolveDir: dirname(path) };
    });
  },
});

/**
 * The entry and all that it imports, as one text for `evaluator`. Rejects with a clause that says why it can't be bundled, and where:
 * it imports what is not among the modules, or it can't be read.
 */
export async function bundle(entry: Entry, options: BundleOptions): Promise<string> {
  const folder = 'file' in entry ? dirname(entry.file) : entry.folder;
  const from =
    'file' in entry
      ? { entryPoints: [entry.file] }
      : { stdin: { contents: entry.text, resolveDir: folder, loader: 'ts' as const } };
  const { outputFiles = [] } = await build({
    ...from,
    bundle: true,
    ...(options.isForNode && { platform: 'node' as const }),
    format: 'iife',
    globalName: 'exported',
    target: 'node20',
    sourcemap: 'external',
    sourcesContent: false,
    // The paths in the source map begin here. Nothing is written.
    outfile: join(folder, 'bundle.js'),
    write: false,
    logLevel: 'silent',
    plugins: [replacing(options)],
  }).catch(({ errors = [] }: { errors?: { text: string; location: { file: string; line: number } | null }[] }) => {
    const [first] = errors;
    const where = first?.location ? ` (${first.location.file}:${first.location.line})` : '';
    throw new Error(`${first?.text ?? 'it could not be read'}${where}`);
  });
  const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return `${textOf('.js')}${keepMap({ folder, map: textOf('.map') })}\n`;
}

/**
 * Evaluates a bundle anew at each call: no two processes share a variable. The code finds the `names` replaced by the values of that
 * call, in their order.
 */
export function evaluator<Exports>(text: string, names: string[]): (given: Given, values: unknown[]) => Exports {
  const evaluate = new Function('given', ...names, `${text}return exported;`);
  return (given, values) => evaluate({ ...given, createHash, readFileSync: readOnce }, ...values);
}

const files = new Map<string, string>();

/** The scripts are read again for each process: from memory. */
export function readOnce(place: URL | string): string {
  const path = place instanceof URL ? fileURLToPath(place) : place;
  const text = files.get(path) ?? readFileSync(path, 'utf8');
  files.set(path, text);
  return text;
}
