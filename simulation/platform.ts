// The simulated Node for unchanged packages: its modules, its globals, and the parts that are missing.

import { AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { builtinModules } from 'node:module';
import { promisify } from 'node:util';
import { createLacking, listedIn, type Run } from './lacking.ts';
import { createLuck } from './luck.ts';
import { createCrypto } from './own-crypto.ts';
import { type Members, namesIn, ownVersion } from './own-module.ts';
import { EPOCH_MS } from './valkey.ts';
import type { Place } from './world.ts';

/** Modules that ask for nothing outside the process. */
const harmless =
  /^(assert|async_hooks|buffer|constants|diagnostics_channel|events|os|path|punycode|querystring|stream|string_decoder|sys|tty|url|util)(\/|$)/;
/** What of another module or of the process asks for nothing outside it. */
const harmlessIn: Record<string, RegExp> = {
  fs: /^existsSync$/,
  net: /^(isIP|isIPv4|isIPv6|BlockList|SocketAddress)$/,
  process: /^(nextTick|memoryUsage|constrainedMemory|availableMemory|gete?[ug]id|getgroups)$/,
};
/** Globals that take real time, or speak to others. */
export const refusedGlobals = [
  'fetch',
  'WebSocket',
  'EventSource',
  'MessageChannel',
  'BroadcastChannel',
  'CompressionStream',
];

/** The modules of Node for a bundle. */
export const platformModules = (): Record<string, string> =>
  Object.fromEntries(
    builtinModules.map((name) => [`node:${name}`, `module.exports = given.moduleOf(${JSON.stringify(name)});`]),
  );

export interface PlatformOptions extends Place {
  readFile(place: URL | string): string;
}

export type Platform = ReturnType<typeof createPlatform>;

/** The platform of a process. It notes the first API that the process used and the simulation lacks. */
export function createPlatform(place: PlatformOptions) {
  const { name, world, globals, net, readFile, identity: { seed = name, hostname } = {} } = place;
  const lacking = createLacking(moduleOf);
  const { only, refused } = lacking;
  const partOf = (module: string, parts: Members) =>
    only(module, realModule(module), parts, (member) => harmless.test(module) || !!harmlessIn[module]?.test(member));
  const random = createLuck(createHash('sha256').update(seed).digest().readUInt32LE());
  const crypto = createCrypto(name, lacking);
  const { timers, timersPromises } = timersOf(place);

  const { now } = globals['performance'] as Performance;
  const performance = only('performance', globalThis.performance, { now, timeOrigin: EPOCH_MS });
  // What it prints is for its own users.
  const console = ownVersion(realModule('console'), listedIn('console'), () => ({ value: () => {} }));
  const ownProcess = only(
    'process',
    process,
    processParts(globals, () => ownProcess, moduleOf),
    (member) => !!harmlessIn['process']?.test(member),
  );
  const lookup = (_host: string, ...more: unknown[]) => process.nextTick(more.at(-1) as Run, null, '127.0.0.1', 4);

  const parts: Record<string, Members> = {
    net,
    dns: { lookup },
    'dns/promises': { lookup: async () => ({ address: '127.0.0.1', family: 4 }) },
    timers,
    'timers/promises': timersPromises,
    perf_hooks: { performance },
    fs: { readFileSync: readFile },
    'fs/promises': { readFile: async (place: URL | string) => readFile(place) },
    os: { uptime: () => now() / 1_000, ...(hostname !== undefined && { hostname: () => hostname }) },
    // The tests and the harness may run in a worker, and no process of the simulation does.
    worker_threads: { isMainThread: true, threadId: 0, parentPort: null, workerData: null, resourceLimits: {} },
    cluster: { isPrimary: true, isMaster: true, isWorker: false, worker: undefined },
  };
  const modules = new Map<string, unknown>([
    ['process', ownProcess],
    ['console', console],
  ]);
  function moduleOf(module: string): unknown {
    const made = modules.get(module) ?? (module === 'crypto' ? crypto.module() : partOf(module, parts[module] ?? {}));
    modules.set(module, made);
    return made;
  }

  const own: Members = {
    ...globals,
    ...timers,
    performance,
    process: ownProcess,
    Math: Object.assign(Object.create(Math), { random }),
    crypto: crypto.webCrypto,
    console,
    ...Object.fromEntries(refusedGlobals.map((each) => [each, refused(`${each}()`)])),
  };
  const whole: Members = ownVersion(
    globalThis,
    new Set([...Object.getOwnPropertyNames(globalThis), ...Object.keys(own)]),
    (member) => {
      if (/^(globalThis|global)$/.test(member)) return { get: () => whole };
      return Object.hasOwn(own, member) ? { value: own[member] } : { get: () => Reflect.get(globalThis, member) };
    },
  ) as Members;

  return {
    moduleOf,
    sleep: world.sleep,
    uuid: crypto.uuid,
    /** What code finds under the names of globals. */
    globals: whole,
    /** What it has used that the simulation does not have, such as `worker_threads.Worker()`. */
    lacking: lacking.first,
  };
}

const realModule = (module: string) => process.getBuiltinModule(module) as object;

/** The timers of a process, as globals and as promises. */
function timersOf({ world, globals }: PlatformOptions) {
  /** A timer fires in the async context that has started it. `AsyncResource.bind` would take longer than the timer. */
  const bound =
    (start: Run): Run =>
    (run, ...args) => {
      const context = new AsyncResource('Timeout');
      return start((...given: unknown[]) => context.runInAsyncScope(run as Run, undefined, ...given), ...args);
    };
  const immediately = (value?: unknown, options?: object) => world.sleep(0, value, options);
  const timers: Members = {
    setTimeout: Object.assign(bound(globals['setTimeout'] as Run), { [promisify.custom]: world.sleep }),
    setInterval: bound(globals['setInterval'] as Run),
    setImmediate: Object.assign(bound(globals['setImmediate'] as Run), { [promisify.custom]: immediately }),
    clearTimeout: globals['clearTimeout'],
    clearInterval: globals['clearInterval'],
    clearImmediate: globals['clearImmediate'],
  };
  const timersPromises = {
    setTimeout: world.sleep,
    setInterval: world.every,
    setImmediate: immediately,
    scheduler: {
      wait: (ms: number, options?: object) => world.sleep(ms, undefined, options),
      yield: () => immediately(),
    },
  };
  return { timers, timersPromises };
}

/** What the process object is in the simulation: no signal comes to it, and what it prints is for its own users. */
function processParts(globals: Members, itself: () => Members, moduleOf: (module: string) => unknown): Members {
  const emitter = new EventEmitter().setMaxListeners(0);
  const ofEmitter = namesIn(EventEmitter.prototype).filter((name) => !name.startsWith('_'));
  const { now } = globals['performance'] as Performance;
  const output = (fd: number) =>
    Object.assign(new EventEmitter(), { fd, isTTY: false, writable: true, write: () => true });
  return {
    ...Object.fromEntries(
      ofEmitter.map((name) => [
        name,
        (...args: unknown[]) => {
          const returned = (Reflect.get(emitter, name) as Run).apply(emitter, args);
          return returned === emitter ? itself() : returned;
        },
      ]),
    ),
    ...(globals['process'] as Members),
    ...{ env: {}, argv: ['node'], argv0: 'node', execArgv: [], title: 'node', exitCode: undefined },
    ...{ stdout: output(1), stderr: output(2) },
    ...{ emitWarning() {}, cwd: () => '/', uptime: () => now() / 1_000, umask: () => 0o22 },
    // No other process has started it.
    ...{ send: undefined, disconnect: undefined, connected: undefined, channel: undefined },
    getBuiltinModule: (module: string) => moduleOf(module.replace(/^node:/, '')),
  };
}
