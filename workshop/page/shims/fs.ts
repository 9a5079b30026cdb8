// node:fs in the page: the project files in it, and the locks that users write.

import { packed } from './packed.ts';

/** The project's path in the page. */
const ROOT = '/lockstep/';
const nameOf = (place: URL | string) => decodeURI(typeof place === 'string' ? place : place.pathname).replace(ROOT, '');

export const existsSync = (place: URL | string) => Object.hasOwn(packed.files, nameOf(place));

export function readFileSync(place: URL | string): string | Uint8Array {
  const name = nameOf(place);
  if (name.endsWith('.wasm')) return packed.wasm;
  const text = packed.files[name];
  if (text === undefined) throw new Error(`There is no file ${name} in the page.`);
  return text;
}

export function readdirSync(place: URL | string): string[] {
  const folder = nameOf(place).replace(/\/?$/, '/');
  return Object.keys(packed.files)
    .filter((name) => name.startsWith(folder))
    .map((name) => name.slice(folder.length));
}

/** Replaces the file of this name. */
export function writeFileSync(name: string, text: string) {
  packed.files[name] = text;
}
