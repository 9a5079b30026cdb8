// The service with one lock, as code that each node evaluates afresh.

import { fileURLToPath } from 'node:url';
import { locks, strategies } from '../locks/index.ts';
import type { Strategy } from '../locks/strategy.ts';
import { bundle, evaluator, systemModules } from './bundle.ts';
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

const modules = {
  ...systemModules,
  'node:util': 'export const inspect = String;',
  'node:events': 'export const setMaxListeners = () => {};',
  // The service makes one client, of its Redis.
  ioredis: `export class Redis { constructor() { return given.redis; } }
    export class Cluster {}`,
};
const refusal = (module: string) => `it imports ${module}, which the virtual world does not have`;

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

/** Each file of a lock is bundled with the service once. */
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
  const bundling = bundled.get(file) ?? bundleWith(file);
  bundled.set(file, bundling);
  const evaluate = await bundling;
  return (world, globals, [redis, ...masters], options) => {
    const given = { sleep: world.sleep, uuid: world.uuid, redis };
    const values = replaced.map((each) => globals[each]);
    const { startService, lockFile } = evaluate(given, values);
    return startService(lockFile, { ...options, lock: name, facts, masters });
  };
}

async function bundleWith(file: string): Promise<Evaluate> {
  const text = `export { startService } from './service.ts';
    export * as lockFile from ${JSON.stringify(file)};`;
  const folder = fileURLToPath(new URL('.', import.meta.url));
  return evaluator<Exported>(await bundle({ text, folder }, { modules, refusal }), replaced);
}
