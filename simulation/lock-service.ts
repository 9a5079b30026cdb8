// The service with one lock, as code that each node evaluates anew.

import { fileURLToPath } from 'node:url';
import { locks, strategies } from '../locks/index.ts';
import type { Strategy } from '../locks/strategy.ts';
import type { connectMaster } from '../services/inventory/servers/redis-client.ts';
import {
  type Beside,
  type BundleOptions,
  bundle,
  type Entry,
  evaluator,
  type Packages,
  readOnce,
  systemModules,
} from './bundle.ts';
import { createPlatform, platformModules, refusedGlobals } from './platform.ts';
import type { LockFile, Service, ServiceOptions, startService } from './service.ts';
import { FIRST_PORT } from './sockets.ts';
import { replacedGlobals } from './world/globals.ts';
import { createWorld, type Place, type Started } from './world.ts';

/** The lock that a service sells under. */
export interface LockSource {
  name: string;
  /** The path of its file. */
  file: string;
  /** What is known of it besides what the file exports. */
  facts: ServiceOptions['facts'];
  /** Where packages are that it imports, if they are not found from its file. */
  packages?: Packages | undefined;
  /** It imports no more than our own locks do, and is given the client that they are given. Ours are, and no others unless it is said. */
  hasOurClient?: boolean;
}

/** A lock's file, in a process. */
export interface OpenedLock {
  exports: LockFile;
  /** The client of a server, by the number of that. Made when it is asked for, where the lock makes its own. */
  clientOf(server: number): object;
}

interface Exported {
  startService: typeof startService;
  connectMaster: typeof connectMaster;
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
  refusal: (module) => `it imports ${module}, which the simulation does not have`,
};

/** Names that the code finds replaced. */
const replaced = [...replacedGlobals, 'Date', 'process', 'Atomics'];
const replacedForNode = [...replaced, 'globalThis', 'global', 'console', ...refusedGlobals];

type Evaluate = ReturnType<typeof evaluator<Exported>>;

/** Each file of a lock is bundled with the service once, and once alone. */
const bundled = new Map<string, Promise<Evaluate>>();

/** True for a lock that needs one Redis or several, and no other server: the simulation has it. */
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

/** All of it that is no code. */
const factsOf = (strategy: Strategy) =>
  Object.fromEntries(
    Object.entries(strategy).filter(([, value]) => typeof value !== 'function'),
  ) as unknown as LockSource['facts'];

/** A lock of somebody else runs on a platform that is all of Node, with clients of its own that speak over sockets. */
export const isOnSockets = ({ facts, hasOurClient = !facts.isExternal }: LockSource): boolean => !hasOurClient;

/** Reads the lock's file and the service. Rejects with a clause that says why the simulation can't run it. */
export async function openService(source: LockSource) {
  const evaluateIn = await reader(source, ['startService']);
  const { name, facts } = source;
  return (place: Place, options: Omit<ServiceOptions, 'lock' | 'facts' | 'masters'>, masterCount: number) => {
    const { exported, clientOf, lacking } = evaluateIn(place);
    const masters = Array.from({ length: masterCount }, (_, master) => clientOf(master + 1));
    const service = exported.startService(exported.lockFile, { ...options, lock: name, facts, masters });
    return { service, lacking } satisfies Started<Service>;
  };
}

/** Reads the lock's file alone. Rejects as `openService` does. */
export async function openLockFile(source: LockSource): Promise<(place: Place) => Started<OpenedLock>> {
  const evaluateIn = await reader(source, []);
  return (place) => {
    const { exported, clientOf, lacking } = evaluateIn(place);
    return { service: { exports: exported.lockFile, clientOf }, lacking };
  };
}

/** What the lock's file exports. Rejects as `openService` does, and as the file does when it is evaluated. */
export async function exportsOf(source: LockSource): Promise<LockFile> {
  const open = await openLockFile(source);
  const world = createWorld('nobody', 1);
  return open({ name: 'nobody', world, globals: world.globals, net: {} }).service.exports;
}

/** Bundles a lock's file, and more beside it. Resolves with what evaluates it in a place. */
async function reader(source: LockSource, more: Beside[]) {
  const onSockets = isOnSockets(source);
  const entry = { lock: source.file, beside: onSockets ? [...more, 'connectMaster' as const] : more };
  const name = JSON.stringify([entry, source.packages?.folder]);
  const bundling = bundled.get(name) ?? bundleOf(entry, onSockets, source.packages);
  bundled.set(name, bundling);
  const evaluate = await bundling;

  return (place: Place) => {
    const { world, globals, answerLimitMs } = place;
    if (!onSockets) {
      const { sleep, every, uuid, redis, masters, atLine } = world;
      const values = replaced.map((each) => globals[each]);
      return {
        exported: evaluate({ sleep, every, uuid, redis, atLine }, values),
        clientOf: (server: number) => [redis, ...masters][server] ?? {},
        lacking: world.refusal,
      };
    }
    const platform = createPlatform({ ...place, readFile: readOnce });
    const values = replacedForNode.map((each) => platform.globals[each]);
    const exported = evaluate(platform, values);
    const limit = answerLimitMs === undefined ? {} : { socketTimeout: answerLimitMs };
    return {
      exported,
      clientOf: (server: number) => exported.connectMaster(`redis://127.0.0.1:${FIRST_PORT + server}`, limit),
      lacking: platform.lacking,
    };
  };
}

async function bundleOf(entry: Entry, isForNode: boolean, packages?: Packages): Promise<Evaluate> {
  const options = isForNode ? { ...serviceModules, modules: platformModules(), isForNode, packages } : serviceModules;
  return evaluator<Exported>(await bundle(entry, options), isForNode ? replacedForNode : replaced);
}
