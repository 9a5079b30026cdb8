// A lock's own file, evaluated afresh in a world without a clock, a network or luck of its own.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { LockModule } from './sale.ts';
import { createWorld, type World } from './world.ts';

/** Evaluates the lock's file, and all that it imports, anew: no two processes share a variable. */
export type OpenLock = (world: World) => LockModule;

/** What a lock may ask the system for, as modules whose parts the world brings. */
const modules: Record<string, string> = {
  'node:timers/promises': 'export const setTimeout = world.sleep;',
  'node:fs': 'export const readFileSync = world.readFileSync;',
  'node:crypto': 'export const createHash = world.createHash; export const randomUUID = world.uuid;',
  ioredis: 'export class Redis {} export class Cluster {}',
};

/** Node's own modules, and the client of Redis. */
const ofNode = new RegExp(`^(node:.*|ioredis|${builtinModules.join('|')})$`);

const ofTheWorld: Plugin = {
  name: 'of-the-world',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: ofNode }, ({ path }) => {
      const name = path === 'ioredis' || path.startsWith('node:') ? path : `node:${path}`;
      if (modules[name] === undefined)
        return { errors: [{ text: `it imports ${path}, which the search does not control` }] };
      return { path: name, namespace: 'world' };
    });
    onLoad({ filter: /.*/, namespace: 'world' }, ({ path }) => ({ contents: modules[path] ?? '', loader: 'js' }));
    // A module that asks where it is gets the place of its source.
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8').replace(/import\.meta\.url/g, JSON.stringify(pathToFileURL(path).href));
      return { contents: source, loader: 'ts', resolveDir: dirname(path) };
    });
  },
};

/** Names that a lock's file finds replaced; the others of the list are refused when they are used. */
const replaced = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'performance',
  'Math',
  'AbortSignal',
  'crypto',
];
const refused = [
  'Date',
  'fetch',
  'process',
  'Worker',
  'WebSocket',
  'MessageChannel',
  'BroadcastChannel',
  'globalThis',
  'global',
];

/**
 * Reads a file that exports `createLock`. Rejects with a clause that says why it can't be proved: there is no such file, it imports
 * what the search does not control, it exports no `createLock`.
 */
export async function readLock(file: string): Promise<OpenLock> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const evaluate = new Function('world', ...replaced, ...refused, `${await bundle(file)}; return exported;`);
  const openLock = (world: World): LockModule =>
    evaluate(
      given(world),
      ...replaced.map((name) => world.globals[name]),
      ...refused.map((name) => world.refuse(name)),
    );
  const world = createWorld('nobody', 1);
  const createLock: unknown = await Promise.resolve()
    .then(() => openLock(world).createLock)
    .catch((error: Error) => {
      throw new Error(
        world.refusal() ? `it uses ${world.refusal()}, which the search does not control` : error.message,
      );
    });
  if (typeof createLock !== 'function') throw new Error('it exports no createLock');
  return openLock;
}

/** The file and all that it imports, as one text. */
async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: 'iife',
    globalName: 'exported',
    target: 'node20',
    write: false,
    logLevel: 'silent',
    plugins: [ofTheWorld],
  }).catch(({ errors = [] }: { errors?: { text: string; location: { file: string; line: number } | null }[] }) => {
    const [first] = errors;
    const where = first?.location ? ` (${first.location.file}:${first.location.line})` : '';
    throw new Error(`${first?.text ?? 'it could not be read'}${where}`);
  });
  return outputFiles[0]?.text ?? '';
}

const files = new Map<string, string>();

function given(world: World) {
  return {
    sleep: world.sleep,
    createHash,
    uuid: world.uuid,
    readFileSync(place: URL | string) {
      const path = place instanceof URL ? fileURLToPath(place) : place;
      const text = files.get(path) ?? readFileSync(path, 'utf8');
      files.set(path, text);
      return text;
    },
  };
}
