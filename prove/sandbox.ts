// A lock's own file, evaluated afresh in a world without a clock, a network or luck of its own.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { CreateLock } from '../locks/lock.ts';
import type { World } from './world.ts';

/** Evaluates the lock's file, and all that it imports, anew: no two processes share a variable. */
export type OpenLock = (world: World) => CreateLock;

/** What a lock may ask the system for, as modules whose parts the world brings. */
const modules: Record<string, string> = {
  'node:timers/promises': 'export const setTimeout = world.sleep;',
  'node:fs': 'export const readFileSync = world.readFileSync;',
  'node:crypto': 'export const createHash = world.createHash; export const randomUUID = world.uuid;',
  ioredis: 'export class Redis {} export class Cluster {}',
};

const ofTheWorld: Plugin = {
  name: 'of-the-world',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:|ioredis$)/ }, ({ path }) => {
      if (modules[path] === undefined) return { errors: [{ text: `The search knows no ${path}.` }] };
      return { path, namespace: 'world' };
    });
    onLoad({ filter: /.*/, namespace: 'world' }, ({ path }) => ({ contents: modules[path] ?? '', loader: 'js' }));
    // A module that asks where it is gets the place of its source.
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
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

/** Reads a file that exports `createLock`. Rejects with what esbuild says when it imports what the search does not control. */
export async function readLock(file: string): Promise<OpenLock> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: 'iife',
    globalName: 'exported',
    target: 'node20',
    write: false,
    logLevel: 'silent',
    plugins: [ofTheWorld],
  });
  const text = `${outputFiles[0]?.text ?? ''}; return exported.createLock;`;
  const evaluate = new Function('world', ...replaced, ...refused, text);
  return (world) =>
    evaluate(
      given(world),
      ...replaced.map((name) => world.globals[name]),
      ...refused.map((name) => world.refuse(name)),
    );
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
