// Guesses how an unknown package is used as a lock: ways to open, acquire and release, each tried in the simulation.

import { type LockCode, openLockLab } from '../../simulation/lock-lab.ts';
import { OUTSIDE } from '../../simulation/server.ts';
import { enter, type Inside } from '../peers/adapter.ts';

/** The arguments of a call. */
export type Argument = 'redis' | '[redis]' | 'key' | '[key]' | 'leaseMs' | 'settings' | 'inside';

/** How a hold is released: by the function that runs under the lock, by the result of acquire, or by the lock. */
export type Release =
  | { by: 'leaving' }
  | { by: 'hold is called' }
  | { by: 'hold'; name: string }
  | { by: 'lock'; name: string; args: ('hold' | 'key')[] };

/** One way to use a package. */
export interface Way {
  client: ClientKind;
  /** The name of the export, such as `createLock` or `default`. */
  exported: string;
  /** Undefined where the export acquires by itself. */
  opening: { how: 'class' | 'factory'; args: Argument[] } | undefined;
  /** Without a name what was opened is itself called. */
  acquire: { name: string | undefined; args: Argument[] };
  /** The settings that it is given, among those whose meaning is known. */
  settings: string[];
}
export type ClientKind = 'ioredis' | 'node-redis';

/** What was seen of it when it was tried. */
export interface Shape extends Way {
  release: Release;
  /** Redis held its key for about the lease that was asked for. */
  keepsLease: boolean;
  /** What it puts before the name of its key. */
  prefix: string | undefined;
  /** What a single try comes to while another has the lock. */
  refusal: 'error' | 'nothing' | 'none: it waits';
  /** It waits for as long as it takes. */
  waits: boolean;
  /** Its release says that the lock was no longer held. */
  tellsLoss: boolean;
  /** The classes of the errors by which it refuses, and by which its release says that the lock was lost. */
  errors: string[];
}

/** Settings by what they mean, in the names that libraries have for them. */
export const settingNames = {
  lease:
    /^(ttl|ttlMs|lease|leaseMs|leaseTime|timeout|lockTimeout|lockTtl|lockTTL|expire|expires|expiry|expiration|duration)$/,
  /** How often it asks again after the first time. */
  retries: /^(retries|retryCount|maxRetries)$/,
  /** How often it asks. */
  attempts: /^(attempts|maxAttempts|acquireAttemptsLimit|tries)$/,
  delay: /^(delay|retryDelay|retryDelayMs|retryInterval|pollingInterval|interval)$/,
  patience: /^(acquireTimeout|waitTimeout|maxWait|acquisitionTimeout)$/,
};
type Meaning = keyof typeof settingNames;
export const meaningOf = (name: string): Meaning | undefined =>
  (Object.keys(settingNames) as Meaning[]).find((meaning) => settingNames[meaning].test(name));

const openings: Argument[][] = [
  ['redis', 'key', 'settings'],
  ['redis', 'settings'],
  ['[redis]', 'key', 'settings'],
  ['[redis]', 'settings'],
];
/** Of what was opened with a key, and of what was not. */
const callsWithKey: Argument[][] = [[], ['settings'], ['leaseMs']];
const callsWithoutKey: Argument[][] = [
  ['key', 'leaseMs', 'settings'],
  ['[key]', 'leaseMs', 'settings'],
  ['key', 'settings'],
];
/** Of functions that acquire by themselves. */
const directCalls: Argument[][] = [
  ['redis', 'key', 'settings'],
  ['redis', 'key', 'leaseMs'],
];
/** Of what runs a function under its lock. */
const runners = ['using', 'withLock', 'runExclusive', 'runWithLock'];
const runsWithKey: Argument[][] = [['inside'], ['leaseMs', 'inside']];
const runsWithoutKey: Argument[][] = [
  ['key', 'leaseMs', 'settings', 'inside'],
  ['[key]', 'leaseMs', 'settings', 'inside'],
  ['key', 'leaseMs', 'inside'],
  ['[key]', 'leaseMs', 'inside'],
  ['key', 'settings', 'inside'],
  ['key', 'inside'],
];
const directRuns = directCalls.map((args): Argument[] => [...args, 'inside']);
const partners: Record<string, string> = { acquire: 'release', lock: 'unlock', obtain: 'release' };
const releases = [...new Set(Object.values(partners))];
const acquirers = Object.keys(partners);

/** Longer than it takes to enter, in milliseconds of the simulated clock. */
const LIMIT_MS = 3_000;
const LEASE_MS = 7_700;
const KEY = '{proposal}:lock';
/** Where the function belongs that runs under the lock. */
const INSIDE = Symbol('inside');

type Exports = Record<string, unknown>;
type Callable = (...args: unknown[]) => unknown;
const isObject = (value: unknown): value is Exports =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
/** A class has methods, and a name with a capital letter or the word `class`. */
const isClass = (value: Callable) =>
  /^class\b/.test(String(value)) || Object.getOwnPropertyNames(value.prototype ?? {}).length > 1;

/** What a package exports, by its names; what its default is by the name `default`, and what that has where it is an object. */
export function exportsIn(found: Exports): Map<string, unknown> {
  const inside = isObject(found['default']) && typeof found['default'] === 'object' ? found['default'] : {};
  const all = Object.entries({ ...inside, ...found }).filter(
    ([name, value]) => name !== '__esModule' && value !== inside,
  );
  return new Map(all);
}

/** Those that may be a lock: first what says so, last what lets in several. */
function candidatesIn(found: Exports): [name: string, value: Callable][] {
  const rank = (name: string) =>
    /semaphore|broker|multi|read|write/i.test(name) ? 2 : /lock|mutex|default/i.test(name) ? 0 : 1;
  const all = [...exportsIn(found)].filter(
    (entry): entry is [string, Callable] => typeof entry[1] === 'function' && !/Error$|^set|^get|^try/.test(entry[0]),
  );
  return all.toSorted(([a], [b]) => rank(a) - rank(b));
}

/** The calls that are worth a try of what was opened so: those that it has. */
function callsOf(lock: unknown, opening: Argument[]): Way['acquire'][] {
  const [calls, runs] = opening.includes('key') ? [callsWithKey, runsWithKey] : [callsWithoutKey, runsWithoutKey];
  const has = (name: string) => isObject(lock) && typeof lock[name] === 'function';
  // What a factory returns may be called itself.
  const names = [...acquirers.filter(has), ...(typeof lock === 'function' ? [undefined] : [])];
  return [
    ...names.flatMap((name) => calls.map((args) => ({ name, args }))),
    ...runners.filter(has).flatMap((name) => runs.map((args) => ({ name, args }))),
  ];
}

/** The first way that lets one in and then gives the lock up, at its simplest. One that keeps to the lease that it is given comes first. */
export async function findShape(code: LockCode, clients: ClientKind[], only?: string): Promise<Shape | undefined> {
  let second: (Way & Pick<Read, 'isSpread'>) | undefined;
  for (const client of clients) {
    for (const way of await waysIn(code, client, only)) {
      const tried = await enterAndLeave(code, way);
      if (tried === undefined) continue;
      const found = { ...way, settings: [...tried.read.names], isSpread: tried.read.isSpread };
      if (tried.keepsLease) return simplest(code, found);
      second ??= found;
    }
  }
  return second && simplest(code, second);
}

/** Every way to use what is exported that is worth a try: each opening is tried once, to see what it gives. */
async function waysIn(code: LockCode, client: ClientKind, only?: string): Promise<Way[]> {
  const all = await inLab(code, client, async ({ library }) => candidatesIn(library));
  const named = all.filter(([name]) => only === undefined || name === only);
  const ways: Way[] = [];
  for (const [exported, value] of named) {
    const common = { client, exported, settings: knownSettings };
    const how = isClass(value) ? 'class' : 'factory';
    for (const args of openings) {
      const opening = { how, args } as const;
      const lock = await inLab(code, client, (tried) => open(tried, { ...common, opening }, ONCE));
      ways.push(...callsOf(lock.value, args).map((acquire) => ({ ...common, opening, acquire })));
    }
    if (how === 'class') continue;
    for (const args of [...directCalls, ...directRuns])
      ways.push({ ...common, opening: undefined, acquire: { name: undefined, args } });
  }
  return ways;
}

/** Leaves out every argument and every setting without which the same is seen. */
async function simplest(
  code: LockCode,
  { isSpread, ...way }: Way & Pick<Read, 'isSpread'>,
): Promise<Shape | undefined> {
  // Where it copies them all, nobody knows which it reads: those stay that show.
  const isUnseen = (name: string) => /^(delay|patience)$/.test(meaningOf(name) ?? '');
  const settings = isSpread ? way.settings.filter((name) => !isUnseen(name)) : way.settings;
  let shape = await seenOf(code, { ...way, settings });
  const isSame = (other: Shape | undefined) => other !== undefined && factsOf(other) === factsOf(shape as Shape);
  const isRun = way.acquire.args.includes('inside');
  for (let count = way.acquire.args.length - 1; shape && count >= 0 && !isRun; count -= 1) {
    const acquire = { ...way.acquire, args: way.acquire.args.slice(0, count) };
    const less = await seenOf(code, { ...shape, acquire });
    if (isSame(less)) shape = less;
  }
  for (const name of settings.filter((each) => !isUnseen(each))) {
    if (shape === undefined) return undefined;
    const less = await seenOf(code, { ...shape, settings: shape.settings.filter((each) => each !== name) });
    if (isSame(less)) shape = less;
  }
  if (shape?.opening === undefined || shape.settings.length > 0) return shape;
  const opening = { ...shape.opening, args: shape.opening.args.filter((arg) => arg !== 'settings') };
  const acquire = { ...shape.acquire, args: shape.acquire.args.filter((arg) => arg !== 'settings') };
  const less = await seenOf(code, { ...shape, opening, acquire });
  return isSame(less) ? less : shape;
}

const factsOf = ({ settings, acquire, opening, ...facts }: Shape) => JSON.stringify(facts);

/** All that is seen of a way, each in a world of its own. */
async function seenOf(code: LockCode, way: Way): Promise<Shape | undefined> {
  const entered = await enterAndLeave(code, way);
  if (entered === undefined) return undefined;
  const { release, keepsLease, prefix } = entered;
  const once = await askBeside(code, way, ONCE);
  const waiting = await askBeside(code, way, PATIENT);
  const lost = await leaveWhatIsLost(code, way, release);
  const isFalsy = once.end === 'resolved' && !once.value && Boolean(entered.value);
  // The second is inside as well.
  if (once.end === 'resolved' && !isFalsy) return undefined;
  return {
    ...way,
    ...{ release, keepsLease, prefix },
    refusal: isFalsy ? 'nothing' : once.end === 'error' ? 'error' : 'none: it waits',
    waits: waiting.end === 'pending',
    tellsLoss: lost.end === 'error' || lost.value === false,
    errors: [...new Set([once, lost].flatMap(({ error }) => (error ? [error] : [])))],
  };
}

type Redis = Awaited<ReturnType<typeof openLockLab>>['redis'];
type End = { end: 'resolved' | 'error' | 'pending'; value?: unknown; error?: string };
interface Tried {
  library: Exports;
  client: object;
  server: Redis;
  /** How a call ends in the process; `pending` when it takes too long. */
  call(act: () => unknown): Promise<End>;
}

/** Opens a world with one process, and lets its clock go on until `act` has ended. */
async function inLab<T>(code: LockCode, client: ClientKind, act: (tried: Tried) => Promise<T>): Promise<T> {
  const lab = await openLockLab(0);
  try {
    const { node, exports, clients } = lab.start(code);
    const { library, connect } = exports as unknown as PackageFile;
    async function call(act: () => unknown): Promise<End> {
      let end: End = { end: 'pending' };
      const run = async () => act();
      node.take(() => {
        run().then(
          (value) => {
            end = { end: 'resolved', value };
          },
          (error: Error) => {
            end = { end: 'error', error: error?.constructor?.name };
          },
        );
      });
      await lab.schedule.until(() => end.end !== 'pending', LIMIT_MS);
      return end;
    }
    const { options } = clients.redis as { options: { host: string; port: number } };
    const own =
      client === 'ioredis'
        ? clients.redis
        : (await call(() => connect?.(`redis://${options.host}:${options.port}`))).value;
    return await act({ library, client: own as object, server: lab.redis, call });
  } finally {
    lab.close();
  }
}

/** What the file exports that is read to look at a package. */
export interface PackageFile {
  library: Exports;
  /** Opens a client of node-redis, where the package has that beside it. */
  connect?(url: string): Promise<object>;
}

/** Opens a lock. What acquires by itself needs no opening. */
async function open(
  { library, client, call }: Tried,
  { exported, opening, settings }: Omit<Way, 'acquire'>,
  limits: Limits,
  read = noneRead(),
): Promise<End> {
  const value = exportsIn(library).get(exported) as Callable;
  if (opening === undefined) return { end: 'resolved', value };
  const args = argumentsFor(client, settings, limits, read)(opening.args);
  return call(() => (opening.how === 'class' ? Reflect.construct(value, args) : value(...args)));
}

/** Opens a lock and acquires it. */
async function acquireBy(tried: Tried, way: Way, limits: Limits, read = noneRead()) {
  const { opening, acquire } = way;
  const given = argumentsFor(tried.client, way.settings, limits, read);
  const { value: lock } = await open(tried, way, limits, read);
  const callee = acquire.name === undefined ? lock : isObject(lock) && lock[acquire.name];
  if (typeof callee !== 'function') return undefined;
  const apply = (args: unknown[]) => Reflect.apply(callee, opening ? lock : undefined, args);
  const isRun = acquire.args.includes('inside');
  const end = await tried.call(() =>
    isRun
      ? enter(async (inside) => apply(given(acquire.args).map((arg) => (arg === INSIDE ? inside : arg))))
      : apply(given(acquire.args)),
  );
  return { lock, isRun, ...end };
}

/** One enters a free lock, and gives it up. */
const enterAndLeave = (code: LockCode, way: Way) =>
  inLab(code, way.client, async (tried) => {
    const read = noneRead();
    const held = await acquireBy(tried, way, ONCE, read);
    const ask = (...command: string[]) => tried.server.execute(OUTSIDE, command);
    const keys = () => ask('KEYS', '*') as string[];
    const kept = keys();
    const named = kept.find((name) => name.includes(KEY));
    if (held?.end !== 'resolved' || named === undefined) return undefined;
    const leases = kept.map((name) => Number(ask('PTTL', name)));
    const keepsLease = leases.some((ms) => ms > LEASE_MS - LIMIT_MS && ms <= LEASE_MS);
    const prefix = named.slice(0, named.indexOf(KEY)) || undefined;
    for (const release of releasesOf(held)) {
      await tried.call(() => release.run());
      if (keys().length < kept.length) return { release: release.is, keepsLease, prefix, read, value: held.value };
    }
    return undefined;
  });

/** How a second one fares while the first is inside. */
const askBeside = (code: LockCode, way: Way, limits: Limits): Promise<End> =>
  inLab(code, way.client, async (tried) => {
    await acquireBy(tried, way, ONCE);
    return (await acquireBy(tried, way, limits)) ?? { end: 'error' };
  });

/** What a release says when the key has gone. */
const leaveWhatIsLost = (code: LockCode, way: Way, is: Release): Promise<End> =>
  inLab(code, way.client, async (tried) => {
    const held = await acquireBy(tried, way, ONCE);
    tried.server.execute(OUTSIDE, ['FLUSHALL']);
    const release = held && releasesOf(held).find((each) => JSON.stringify(each.is) === JSON.stringify(is));
    return tried.call(() => release?.run());
  });

interface Held {
  lock: unknown;
  value?: unknown;
  isRun: boolean;
}

/** The ways in which a hold may be given up. */
function releasesOf({ lock, value: hold, isRun }: Held): { is: Release; run: () => unknown }[] {
  if (isRun) return [{ is: { by: 'leaving' }, run: () => leave(hold as Inside) }];
  const found: { is: Release; run: () => unknown }[] = [];
  if (typeof hold === 'function') found.push({ is: { by: 'hold is called' }, run: () => (hold as Callable)() });
  for (const name of releases) {
    const ofHold = isObject(hold) && hold[name];
    if (typeof ofHold === 'function') found.push({ is: { by: 'hold', name }, run: () => ofHold.call(hold) });
    const ofLock = isObject(lock) && lock[name];
    if (typeof ofLock !== 'function') continue;
    found.push(
      { is: { by: 'lock', name, args: [] }, run: () => ofLock.call(lock) },
      { is: { by: 'lock', name, args: ['hold'] }, run: () => ofLock.call(lock, hold) },
      { is: { by: 'lock', name, args: ['key'] }, run: () => ofLock.call(lock, KEY) },
    );
  }
  return found;
}

function leave({ leave, left }: Inside) {
  leave();
  return left;
}

/** How long and how often a call may ask. */
type Limits = Record<Exclude<Meaning, 'lease' | 'delay'>, number>;
/** As good as for ever, and short enough for a timer. */
export const NO_LIMIT = 2 ** 31 - 1;
export const ONCE: Limits = { retries: 0, attempts: 1, patience: LIMIT_MS };
export const PATIENT: Limits = { retries: NO_LIMIT, attempts: NO_LIMIT, patience: NO_LIMIT };
const knownSettings = Object.values(settingNames).flatMap(({ source }) => source.slice(2, -2).split('|'));

/** Which settings it has read, and whether it has asked for all that there are. */
interface Read {
  names: Set<string>;
  isSpread: boolean;
}

const noneRead = (): Read => ({ names: new Set(), isSpread: false });

/** What a call is given. It is noted which settings are read. */
function argumentsFor(client: object, names: string[], limits: Limits, read: Read) {
  const values: Record<Meaning, number> = { lease: LEASE_MS, delay: 20, ...limits };
  const own = Object.fromEntries(names.map((name) => [name, values[meaningOf(name) as Meaning]]));
  const settings = new Proxy(own, {
    get(target, name) {
      if (Object.hasOwn(target, name)) read.names.add(String(name));
      return Reflect.get(target, name);
    },
    ownKeys(target) {
      read.isSpread = true;
      return Reflect.ownKeys(target);
    },
  });
  const all = {
    redis: client,
    '[redis]': [client],
    key: KEY,
    '[key]': [KEY],
    leaseMs: LEASE_MS,
    settings,
    inside: INSIDE,
  };
  return (args: Argument[]) => args.map((arg) => all[arg]);
}
