import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';
import { cacheDir, nodeArgs, projectDir } from './parts.ts';

/** A module that asks where it is must be told the place of its source. */
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
const bundled = new Map<string, Promise<string[]>>();

/** The arguments that make Node run the inventory service with this environment. */
export function serviceArgs(env: NodeJS.ProcessEnv): Promise<string[]> {
  // A node that is to load modules at its start needs tsx for them.
  return env['LOCK_MODULES'] ? Promise.resolve(nodeArgs(service)) : bundledArgs(service);
}

/**
 * The arguments that make Node run one of the project's TypeScript files. The file and all that it imports, but the packages,
 * become one JavaScript file, once for each process that starts it: it starts in less than half the time that tsx takes.
 */
export function bundledArgs(file: string): Promise<string[]> {
  const args = bundled.get(file) ?? bundle(file);
  bundled.set(file, args);
  return args;
}

async function bundle(file: string): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [join(projectDir, file)],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    write: false,
    plugins: [ownPlaces],
  });
  await stop();
  const text = outputFiles[0]?.text ?? '';
  const path = join(cacheDir, `${file}.mjs`);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    mkdirSync(dirname(path), { recursive: true });
    // Another process may be about to read it.
    writeFileSync(`${path}.${process.pid}`, text);
    renameSync(`${path}.${process.pid}`, path);
  }
  return ['--enable-source-maps', path];
}
