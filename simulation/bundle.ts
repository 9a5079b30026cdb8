// Bundles all code for the simulation into one text, which is evaluated anew for each process.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { z } from 'zod';
import { bundleText, mapped, placed } from './esbuild.ts';
import { isOfPackage } from './of-package.ts';
import { keepMap } from './places.ts';

/** What of the service may be bundled beside a lock. */
const besideLocks = {
  startService: './service.ts',
  connectMaster: '../services/inventory/servers/redis-client.ts',
};
export type Beside = keyof typeof besideLocks;

/** A lock's file. With `beside`, what it exports is `lockFile`, and what is named there is exported beside it. */
export interface Entry {
  lock: string;
  beside?: Beside[];
}

const here = fileURLToPath(new URL('.', import.meta.url));

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

/** The world of one process: what its modules need, and the replaced globals. */
export interface Given {
  sleep: unknown;
  uuid: unknown;
  [more: string]: unknown;
}

/** The modules of Node that code may import; the world provides their members. */
export const systemModules: Record<string, string> = {
  'node:timers/promises': 'export const setTimeout = given.sleep; export const setInterval = given.every;',
  'node:fs': 'export const readFileSync = given.readFileSync;',
  'node:crypto': 'export const createHash = given.createHash; export const randomUUID = given.uuid;',
};

/** Node's own modules. Other packages are bundled, as far as they ask for none of these; the client of Redis only where it can be. */
const ofSystem = ['node:.*', ...builtinModules].join('|');
const builtin = new Set(builtinModules);

/** Schemas keep nothing of a process, and take longer to evaluate than all the rest of the service: all processes share them. */
const SHARED = 'zod';
const service = join(here, '../services/');

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
    onResolve({ filter: new RegExp(`^${SHARED}$`) }, ({ path, importer }) =>
      importer.startsWith(service) ? { path, namespace: 'shared' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'shared' }, () => ({ contents: 'export const z = given.z;', loader: 'js' }));
    // By the name of the package that this is, a lock imports its contract.
    onResolve({ filter: /^lockstep$/ }, () => ({ path: join(here, '../locks/lock.ts') }));
    // What a package asks for and does without, such as an optional dependency, is missing when it is asked for: as in Node.
    onResolve({ filter: /^[^./]/ }, async ({ path, importer, pluginData, ...more }) => {
      if (pluginData === LOOKED) return undefined;
      const isInPackage = isOfPackage(importer);
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
      contents: throwing(`the simulation has no native code (${basename(path)})`),
    }));
    onLoad({ filter: /.*/, namespace: 'given' }, ({ path }) => ({ contents: modules[path] ?? '', loader: 'js' }));
  },
});

/**
 * The entry and all that it imports, as one text for `evaluator`. Rejects with a clause that says why it can't be bundled, and where:
 * it imports what is not among the modules, or it can't be read.
 */
export const bundle = ({ lock, beside }: Entry, options: BundleOptions): Promise<string> =>
  beside === undefined
    ? bundleFrom(dirname(lock), { entryPoints: [lock] }, options)
    : bundleModules(`${exporting(beside)} export * as lockFile from ${JSON.stringify(lock)};`, options);

/** Like `bundle`, for a text that imports from the folder of this file. */
export const bundleModules = (contents: string, options: BundleOptions): Promise<string> =>
  bundleFrom(here, { stdin: { contents, resolveDir: here, loader: 'ts' } }, options);

/** The export statements for such a text. */
export const exporting = (beside: Beside[]): string =>
  beside.map((each) => `export { ${each} } from '${besideLocks[each]}';`).join(' ');

async function bundleFrom(folder: string, from: BuildOptions, options: BundleOptions): Promise<string> {
  const { text, map } = await bundleText({
    ...from,
    ...mapped,
    ...(options.isForNode && { platform: 'node' as const }),
    format: 'iife',
    globalName: 'exported',
    // The paths in the source map begin here.
    outfile: join(folder, 'bundle.js'),
    logLevel: 'silent',
    plugins: [replacing(options), placed(/\.[cm]?[jt]s$/)],
  }).catch(({ errors = [] }: { errors?: { text: string; location: { file: string; line: number } | null }[] }) => {
    const [first] = errors;
    const where = first?.location ? ` (${first.location.file}:${first.location.line})` : '';
    throw new Error(`${first?.text ?? 'it could not be read'}${where}`);
  });
  return `${text}${keepMap({ folder, map })}\n`;
}

/**
 * Evaluates a bundle anew at each call: no two processes share a variable. The code finds the `names` replaced by the values of that
 * call, in their order.
 */
export function evaluator<Exports>(text: string, names: string[]): (given: Given, values: unknown[]) => Exports {
  const evaluate = new Function('given', ...names, `${text}return exported;`);
  return (given, values) => evaluate({ ...given, z, createHash, readFileSync: readOnce }, ...values);
}

const files = new Map<string, string>();

/** The scripts are read again for each process: from memory. */
export function readOnce(place: URL | string): string {
  const path = place instanceof URL ? fileURLToPath(place) : place;
  const text = files.get(path) ?? readFileSync(path, 'utf8');
  files.set(path, text);
  return text;
}
