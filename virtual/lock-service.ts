// The service with one lock, as code that each node evaluates afresh.

import { fileURLToPath } from 'node:url';
import { locks, strategies } from '../locks/index.ts';
import type { Strategy } from '../locks/strategy.ts';
import { type BundleOptions, bundle, evaluator, systemModules } from './bundle.ts';
import type { LockFile, Service, ServiceOptions, startService } from './service.ts';
import type { World } from './world.ts';

/** The lock that a service sells under. */
export interface LockSource {
  name: string;
  /** The path of its file. */
  file: string;
  /** What is known of it besides what the file exports. */
  facts: ServiceOptions['facts'];
}

type StartOptions = Omit<ServiceOptions, 'lock' | 'facts' | 'masters'>;

/** Starts the service in a world. `clients` are those of its Redis and then of its masters. */
export type StartService = (
  world: World,
  globals: Record<string, unknown>,
  clients: object[],
  options: StartOptions,
) => Service;

interface Exported {
  startService: typeof startService;
  lockFile: LockFile;
}

/** What the service and a lock may import of the system. */
export const serviceModules: BundleOptions = {
  modules: {
    ...systemModules,
    'node:crypto': `${systemModules['node:crypto']}
      export function randomBytes(count) {
        const parts = Array.from({ length: Math.ceil(count / 20) }, () => given.createHash('sha1').update(given.uuid()).digest());
        return Buffer.concat(parts).subarray(0, count);
      }
      export const randomFillSync = (array) => { array.set(randomBytes(array.length)); return array; };`,
    'node:util': 'export const inspect = String;',
    'node:events': 'export const setMaxListeners = () => {};',
    // The service makes one client, of its Redis.
    ioredis: `export class Redis { constructor() { return given.redis; } }
      export class Cluster {}
      export class Command {}`,
  },
  refusal: (module) => `it imports ${module}, which the virtual world does not have`,
};

/** Names that the code finds replaced. */
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
  'Date',
  'process',
  'Atomics',
];

type Evaluate = ReturnType<typeof evaluator<Exported>>;

/** Each file of a lock is bundled with the service once, and once alone. */
const bundled = new Map<string, Promise<Evaluate>>();

/** True for a lock that needs one Redis or several, and no other server: the virtual world has it. */
export const isVirtual = (name: string): boolean => {
  const { backend } = strategies[name] ?? {};
  return backend === 'redis' || backend === 'masters';
};

/** A lock of the course, by its name. */
export function lockNamed(name: string): LockSource {
  const folder = Object.hasOwn(locks, name) ? '' : 'beyond/';
  const file = fileURLToPath(new URL(`../locks/${folder}${name}.ts`, import.meta.url));
  return { name, file, facts: factsOf(strategies[name] as Strategy) };
}

function factsOf(strategy: Strategy): LockSource['facts'] {
  const { backend, commands, replicas } = strategy;
  return {
    backend,
    ...(replicas !== undefined && { replicas }),
    ...(commands && { commands }),
    ...('stockIn' in strategy && { stockIn: 'redis' }),
    ...('isInBuckets' in strategy && { isInBuckets: true }),
  };
}

/** Reads the lock's file and the service. Rejects with a clause that says why the virtual world can't run it. */
export async function openService({ name, file, facts }: LockSource): Promise<StartService> {
  const evaluate = await bundledWith("export { startService } from './service.ts';", file);
  return (world, globals, [redis, ...masters], options) => {
    const { startService, lockFile } = evaluateIn(evaluate, world, globals, redis);
    return startService(lockFile, { ...options, lock: name, facts, masters });
  };
}

/** Reads the lock's file alone. Resolves with what evaluates it in a world. Rejects as `openService` does. */
export async function openLockFile(file: string) {
  const evaluate = await bundledWith('', file);
  return (world: World, globals: Record<string, unknown>, redis?: object): LockFile =>
    evaluateIn(evaluate, world, globals, redis).lockFile;
}

function evaluateIn(evaluate: Evaluate, { sleep, uuid }: World, globals: Record<string, unknown>, redis?: object) {
  const values = replaced.map((each) => globals[each]);
  return evaluate({ sleep, uuid, redis }, values);
}

function bundledWith(more: string, file: string): Promise<Evaluate> {
  const text = `${more} export * as lockFile from ${JSON.stringify(file)};`;
  const bundling = bundled.get(text) ?? bundleOf(text);
  bundled.set(text, bundling);
  return bundling;
}

async function bundleOf(text: string): Promise<Evaluate> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  return evaluator<Exported>(await bundle({ text, folder }, serviceModules), replaced);
}
