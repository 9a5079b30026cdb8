// Loads a package and tries its exports in the simulation as a lock. Reports when it starts, and then what it found.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readLockCode } from '../../simulation/lock-lab.ts';
import { makeTempDir } from '../../stack/parts.ts';
import { type ClientKind, exportsIn, findShape, type Shape } from './package-shapes.ts';

/** What is known of a package. */
export interface LookedAt {
  version: string;
  /** The file that Node loads for it, where that could be found. */
  entry: string | undefined;
  /** The names that it exports, and of these those that Node knows without what is exported by default. */
  names: string[];
  namedOnes: string[];
  shape?: Shape;
  /** Where `redis` of the package is, if the shape needs it. */
  nodeRedis?: string;
  /** A clause that says why it could not be tried. */
  untried?: string;
}

const [folder = '', name = '', only] = process.argv.slice(2);
for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, () => {});

process.send?.('');
process.send?.(await look(), () => process.exit(0));

async function look(): Promise<LookedAt> {
  const manifest = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
  const nodeRedis = entryOf('redis');
  const asksForRedis = { ...manifest.dependencies, ...manifest.peerDependencies }.redis !== undefined;
  const clients: ClientKind[] = asksForRedis && nodeRedis ? ['node-redis', 'ioredis'] : ['ioredis'];
  const entry = entryOf(name);
  const tried = await tryIt(clients).catch((error: Error) => ({ untried: error.message }));
  const exported = entry === undefined ? {} : await import(pathToFileURL(entry).href).catch(() => ({}));
  return {
    version: String(manifest.version),
    entry,
    names: [...exportsIn(exported).keys()],
    namedOnes: Object.keys(exported),
    ...tried,
    ...(nodeRedis !== undefined && { nodeRedis }),
  };
}

async function tryIt(clients: ClientKind[]): Promise<Pick<LookedAt, 'shape'>> {
  const { dir, remove } = makeTempDir();
  const file = join(dir, 'package.mts');
  const connecting = `import { createClient } from 'redis';
    export const connect = (url) => createClient({ url }).on('error', () => {}).connect();`;
  const needed = clients.includes('node-redis') ? connecting : '';
  writeFileSync(file, `import * as library from '${name}'; export { library }; ${needed}`);
  try {
    const packages = { folder, names: { [name]: name, redis: 'redis' } };
    const code = await readLockCode({ name, file, facts: { backend: 'redis', isExternal: true }, packages });
    const shape = await findShape(code, clients, only);
    return shape ? { shape } : {};
  } finally {
    remove();
  }
}

/** The file that Node loads for a package of the folder. */
function entryOf(name: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve(name);
  } catch {
    return importedBy(name);
  }
}

/** What a package says that is for `import` alone. */
function importedBy(name: string): string | undefined {
  try {
    const place = join(folder, 'node_modules', name);
    const { exports: all, module, main = 'index.js' } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
    let found = all?.['.'] ?? all ?? module ?? main;
    while (typeof found === 'object' && found !== null) found = found.import ?? found.node ?? found.default;
    return typeof found === 'string' ? join(place, found) : undefined;
  } catch {
    return undefined;
  }
}
