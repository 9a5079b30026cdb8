// What Node is to a package that runs in the virtual world unchanged: its modules, its globals, and what of them is not there.

import { AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { builtinModules } from 'node:module';
import { promisify } from 'node:util';
import { createLuck } from './luck.ts';
import type { Place } from './world.ts';

type Members = Record<string, unknown>;
type Run = (...args: unknown[]) => unknown;

/** Modules that ask for nothing outside the process. */
const harmless =
  /^(assert|async_hooks|buffer|constants|diagnostics_channel|events|os|path|punycode|querystring|stream|string_decoder|sys|tty|url|util)(\/|$)/;

/** The modules of Node as a bundle has them. */
export const platformModules = (): Record<string, string> =>
  Object.fromEntries(
    builtinModules.map((name) => [`node:${name}`, `module.exports = given.moduleOf(${JSON.stringify(name)});`]),
  );

export interface PlatformOptions extends Place {
  readFile(place: URL | string): string;
}

export type Platform = ReturnType<typeof createPlatform>;

/** What a process has. It notes the first thing that it has used and that the virtual world does not have. */
export function createPlatform({ name, world, globals, net, readFile }: PlatformOptions) {
  let lacking: string | undefined;
  const random = createLuck(createHash('sha256').update(name).digest().readUInt32LE());

  /** Any use of it is noted, and throws. */
  const refused = (what: string): Run =>
    function use(): never {
      lacking ??= what;
      throw new Error(`The virtual world has no ${what}.`);
    };
  /** A module of Node of which the virtual world has these parts. A function that is not among them is refused when it is called. */
  function only(module: string, parts: Members): Members {
    const real = process.getBuiltinModule(module) as unknown as Members;
    return new Proxy(real, {
      get(_target, member) {
        const own = parts[String(member)];
        if (own !== undefined || typeof member === 'symbol') return own;
        const value = real[member];
        return typeof value === 'function' ? refused(`${module}.${member}()`) : value;
      },
    });
  }

  let blocks = 0;
  function randomBytes(size: number): Buffer {
    const parts: Buffer[] = [];
    for (let length = 0; length < size; length += 64) {
      blocks += 1;
      parts.push(createHash('sha512').update(`${name} ${blocks}`).digest());
    }
    return Buffer.concat(parts).subarray(0, size);
  }
  function fill<T extends NodeJS.ArrayBufferView>(view: T): T {
    Buffer.from(view.buffer, view.byteOffset, view.byteLength).set(randomBytes(view.byteLength));
    return view;
  }
  function uuid(): string {
    const [, ...parts] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(randomBytes(16).toString('hex')) ?? [];
    return `${parts[0]}-${parts[1]}-4${parts[2]}-8${parts[3]}-${parts[4]}`;
  }
  const webCrypto = { getRandomValues: fill, randomUUID: uuid };

  /** A timer fires in the async context that has started it. `AsyncResource.bind` would take longer than the timer. */
  const bound =
    (start: Run): Run =>
    (run, ...args) => {
      const context = new AsyncResource('Timeout');
      return start((...given: unknown[]) => context.runInAsyncScope(run as Run, undefined, ...given), ...args);
    };
  const timers: Members = {
    setTimeout: Object.assign(bound(globals['setTimeout'] as Run), { [promisify.custom]: world.sleep }),
    setInterval: bound(globals['setInterval'] as Run),
    setImmediate: Object.assign(bound(globals['setImmediate'] as Run), {
      [promisify.custom]: (value: unknown) => world.sleep(0, value),
    }),
    clearTimeout: globals['clearTimeout'],
    clearInterval: globals['clearInterval'],
    clearImmediate: globals['clearImmediate'],
  };
  const { setTimeout } = timers as { setTimeout: Run };
  const performance = { now: (globals['performance'] as Performance).now, timeOrigin: 0 };
  const lookup = (_host: string, ...more: unknown[]) => process.nextTick(more.at(-1) as Run, null, '127.0.0.1', 4);
  const timersPromises = {
    setTimeout: world.sleep,
    setImmediate: (value: unknown) => world.sleep(0, value),
    scheduler: { wait: world.sleep, yield: () => world.sleep(0) },
  };
  const files = { readFile: async (place: URL | string) => readFile(place) };

  const { crypto, net: realNet } = { crypto: process.getBuiltinModule('crypto'), net: process.getBuiltinModule('net') };
  const { isIP, isIPv4, isIPv6 } = realNet;
  const parts: Record<string, () => Members> = {
    net: () => only('net', { ...net, isIP, isIPv4, isIPv6 }),
    dns: () => only('dns', { lookup, promises: only('dns/promises', {}) }),
    timers: () => ({ ...timers, promises: timersPromises }),
    'timers/promises': () => timersPromises,
    perf_hooks: () => only('perf_hooks', { performance }),
    process: () => ownProcess,
    fs: () =>
      only('fs', { readFileSync: readFile, existsSync: process.getBuiltinModule('fs').existsSync, promises: files }),
    'fs/promises': () => only('fs/promises', files),
    crypto: () => ({
      ...crypto,
      webcrypto: webCrypto,
      getRandomValues: fill,
      randomUUID: uuid,
      randomFillSync: fill,
      randomInt: (least: number, end?: number) =>
        end === undefined ? Math.floor(random() * least) : least + Math.floor(random() * (end - least)),
      randomBytes(size: number, done?: (error: null, bytes: Buffer) => void) {
        const bytes = randomBytes(size);
        if (done) process.nextTick(done, null, bytes);
        return bytes;
      },
    }),
  };
  const modules = new Map<string, unknown>();
  function moduleOf(module: string): unknown {
    if (harmless.test(module)) return process.getBuiltinModule(module);
    const made = modules.get(module) ?? (parts[module] ?? (() => only(module, {})))();
    modules.set(module, made);
    return made;
  }

  const nothing = () => ownProcess;
  const { nextTick, version, versions, platform, arch, release } = process;
  const ownProcess: Members = {
    ...(globals['process'] as Members),
    ...{ nextTick, version, versions, platform, arch, release, env: {}, argv: ['node'], execArgv: [], title: 'node' },
    ...{ on: nothing, once: nothing, off: nothing, removeListener: nothing, addListener: nothing, emit: () => false },
    ...{ emitWarning() {}, cwd: () => '/', memoryUsage: process.memoryUsage, uptime: () => performance.now() / 1_000 },
    ...{ stdout: { write: () => true }, stderr: { write: () => true, fd: 2 } },
    exit: refused('process.exit()'),
  };
  const own: Members = {
    ...globals,
    ...timers,
    performance,
    process: ownProcess,
    Math: Object.assign(Object.create(Math), { random }),
    crypto: { ...webCrypto, subtle: {} },
    // Of what can't be changed a proxy may give nothing else.
    AbortSignal: new Proxy(() => {}, {
      get: (_target, member) => (member === 'timeout' ? timeoutSignal : Reflect.get(AbortSignal, member)),
    }),
    // What it prints is for its own users.
    console: new Proxy({}, { get: () => () => {} }),
    fetch: refused('fetch()'),
    WebSocket: refused('WebSocket'),
  };
  function timeoutSignal(ms: number): AbortSignal {
    const over = new AbortController();
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    setTimeout(() => over.abort(reason), ms);
    return over.signal;
  }
  // Some globals of Node can't be assigned.
  const whole: Members = Object.create(globalThis, Object.getOwnPropertyDescriptors(own));
  for (const itself of ['globalThis', 'global']) Object.defineProperty(whole, itself, { value: whole });

  return {
    moduleOf,
    sleep: world.sleep,
    uuid,
    /** What code finds under the names of globals. */
    globals: whole,
    /** What it has used that the virtual world does not have, such as `worker_threads.Worker()`. */
    lacking: () => lacking,
  };
}
