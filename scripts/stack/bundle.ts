// Bundles the project's TypeScript files, so that the processes that run them start sooner.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';
import { cacheDir, nodeArgs, projectDir } from './parts.ts';

/** A module that asks where it is gets the place of its source. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      return { contents: source.replace(/import\.meta\.url/g, JSON.stringify(pathToFileURL(path).href)), loader: 'ts' };
    });
  },
};

const service = 'services/inventory/main.ts';
/** What a package asks for by `require` is found from the bundle's place. */
const requireHere =
  "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.filename);";
const bundled = new Map<string, Promise<string[]>>();
/** How many builds are in progress. */
let building = 0;

/**
 * The arguments that make Node run the inventory service with this environment. The packages are in the bundle, too: a node is
 * started more often than anything else, and to find and read its packages one by one takes half of its start.
 */
export function serviceArgs(env: NodeJS.ProcessEnv): Promise<string[]> {
  // A node that is to load modules at its start needs tsx for them.
  return env['LOCK_MODULES'] ? Promise.resolve(nodeArgs(service)) : bundledArgs(service, { withPackages: true });
}

/**
 * The arguments that make Node run one of the project's TypeScript files. The file and all that it imports, without the packages
 * or with them, become one JavaScript file, once for each process that starts it: it starts in less than half the time that tsx
 * takes.
 */
export function bundledArgs(file: string, { withPackages = false } = {}): Promise<string[]> {
  const known = bundled.get(file);
  if (known !== undefined) return known;
  const args = bundle(file, withPackages);
  bundled.set(file, args);
  // The next call tries again.
  args.catch(() => bundled.delete(file));
  return args;
}

async function bundle(file: string, withPackages: boolean): Promise<string[]> {
  const text = await buildText(file, withPackages);
  const path = join(cacheDir, `${file}.mjs`);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    mkdirSync(dirname(path), { recursive: true });
    // Another process may be about to read it.
    writeFileSync(`${path}.${process.pid}`, text);
    renameSync(`${path}.${process.pid}`, path);
  }
  return ['--enable-source-maps', path];
}

async function buildText(file: string, withPackages: boolean): Promise<string> {
  building += 1;
  try {
    const { outputFiles } = await build({
      entryPoints: [join(projectDir, file)],
      bundle: true,
      packages: withPackages ? 'bundle' : 'external',
      ...(withPackages && { banner: { js: requireHere } }),
      platform: 'node',
      format: 'esm',
      target: 'node20',
      sourcemap: 'inline',
      // It would be read at each start, and the sources are at hand.
      sourcesContent: false,
      write: false,
      plugins: [ownPlaces],
    });
    return outputFiles[0]?.text ?? '';
  } finally {
    building -= 1;
    // It ends the process that all builds share.
    if (building === 0) await stop();
  }
}
