// A process with a lock: it makes lock objects, acquires, aborts and releases when it is asked to, and answers what came of it.

import { randomUUID } from 'node:crypto';
import { getEventListeners, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Lock, LockOptions } from '../../../locks/lock.ts';
import { type ExternalModule, readExternalModule } from '../../../services/inventory/external-module.ts';
import { redisOptions } from '../../../services/inventory/redis-client.ts';
import { sharedClock } from '../../harness/clock.ts';
import type {
  ErrorSaid,
  FromLockProcess,
  LockSettings,
  LockTask,
  Look,
  Patience,
  Ports,
  Question,
  Resources,
  ToLockProcess,
} from './messages.ts';

/** How often this process looks whether it comes to its turn, in milliseconds. */
const LOOK_MS = 10;
/** How long what was seen of it is kept, in milliseconds. */
const KEPT_MS = 120_000;

const REPEATED_AT_A_TIME = 10;

interface Client {
  redis: Redis;
  masters: Redis[];
}

interface Holder {
  lock: Lock;
  signals: AbortSignal[];
  /** Aborts the latest acquisition. */
  patience: AbortController;
}

const { lock: task }: LockTask = JSON.parse(process.argv[2] ?? '{}');
const { createLock, promises } = await load();
const clients = new Map<string, Client>();
const holders = new Map<string, Holder>();
const contention = { isOn: false, entries: 0, loops: [] as Promise<unknown>[] };
const standstills: { at: number; waitedMs: number }[] = [];

process.on('message', ({ id, question }: ToLockProcess) => {
  Promise.resolve()
    .then(() => answer(question))
    .then(
      (answer) => tell({ type: 'answer', id, answer }),
      (error) => tell({ type: 'answer', id, error: errorSaid(error) }),
    );
});
process.once('disconnect', () => process.exit());
watchTurns();
tell({ type: 'ready', promises });

async function load(): Promise<ExternalModule> {
  if ('file' in task) return readExternalModule(task.file);
  // They and their packages take long to load, and a lock in a file needs none of them.
  const { strategies } = await import('../../../locks/index.ts');
  const strategy = strategies[task.name];
  if (strategy === undefined || !('createLock' in strategy)) throw new Error(`There is no lock ${task.name}.`);
  return { createLock: strategy.createLock, promises: undefined };
}

function tell(message: FromLockProcess) {
  process.send?.(message);
}

async function answer(question: Question): Promise<unknown> {
  switch (question.type) {
    case 'connect':
      clients.set(question.client, await connectAll(question.ports));
      return;
    case 'disconnect': {
      const client = clients.get(question.client);
      clients.delete(question.client);
      for (const redis of client ? [client.redis, ...client.masters] : []) redis.disconnect();
      return;
    }
    case 'make': {
      const lock = createLock(optionsOf(question.client, question.settings));
      holders.set(question.lock, { lock, signals: [], patience: new AbortController() });
      return;
    }
    case 'acquire':
      return acquire(question.lock, question.patience);
    case 'abort':
      return holderOf(question.lock).patience.abort(new Error('The client has gone.'));
    case 'release':
      return holderOf(question.lock).lock.release();
    case 'look':
      return look(question.lock);
    case 'contend':
      contention.isOn = true;
      contention.loops = Array.from({ length: question.contenders }, () =>
        contend(question.client, question.settings, question.holdMs),
      );
      // One that fails says so when they are to rest.
      for (const loop of contention.loops) loop.catch(() => {});
      return;
    case 'entries':
      return contention.entries;
    case 'rest':
      contention.isOn = false;
      await Promise.all(contention.loops);
      return;
    case 'repeat':
      await repeat(question.client, question.settings, question.times);
      return;
    case 'resources':
      return resources();
    case 'standstill':
      return Math.max(0, ...standstills.filter(({ at }) => at >= question.since).map(({ waitedMs }) => waitedMs));
  }
}

/** Connects like the service, but without its limit on an answer: what is held on its way must not end the connection. */
async function connectAll({ redis, masters }: Ports): Promise<Client> {
  return { redis: await connect(redis), masters: await Promise.all(masters.map(connect)) };
}

async function connect(port: number): Promise<Redis> {
  const { socketTimeout: _, ...options } = redisOptions;
  const redis = new Redis({ ...options, host: '127.0.0.1', port });
  redis.on('error', () => {});
  // A lock may have a listener for each of its waiters.
  redis.setMaxListeners(0);
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  return redis;
}

function optionsOf(name: string, settings: LockSettings): LockOptions {
  const client = clients.get(name);
  if (client === undefined) throw new Error(`There is no client ${name}.`);
  return { ...client, ...settings, onLeaseLost() {} } as LockOptions;
}

function holderOf(name: string): Holder {
  const holder = holders.get(name);
  if (holder === undefined) throw new Error(`There is no lock object ${name}.`);
  return holder;
}

async function acquire(name: string, patience: Patience) {
  const holder = holderOf(name);
  holder.patience = new AbortController();
  const signal = patience === 'once' ? AbortSignal.abort() : holder.patience.signal;
  setMaxListeners(0, signal);
  holder.signals.push(signal);
  await holder.lock.acquire(signal);
  const { lost } = holder.lock;
  if (lost === undefined) return;
  const tellLost = () => tell({ type: 'lost', lock: name });
  if (lost.aborted) tellLost();
  else lost.addEventListener('abort', tellLost, { once: true });
}

function look(name: string): Look {
  const { lock, signals } = holderOf(name);
  const { fencingToken, lost } = lock;
  return {
    hasLost: lost !== undefined,
    isLost: lost?.aborted === true,
    ...(fencingToken !== undefined && { token: String(fencingToken) }),
    listeners: signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0),
  };
}

async function contend(client: string, settings: Omit<LockSettings, 'ownerToken'>, holdMs: number) {
  while (contention.isOn) {
    const lock = createLock(optionsOf(client, { ...settings, ownerToken: newToken() }));
    await lock.acquire(new AbortController().signal);
    contention.entries += 1;
    await sleep(holdMs);
    await lock.release();
  }
}

/** Some at the same time, each on a key of its own: none waits for another, and their commands travel together. */
async function repeat(client: string, { key, ...settings }: Omit<LockSettings, 'ownerToken'>, times: number) {
  const work = async (at: number) => {
    for (let time = at; time < times; time += REPEATED_AT_A_TIME)
      await acquireAndRelease(client, { ...settings, key: `${key}:${at}` });
  };
  await Promise.all(Array.from({ length: REPEATED_AT_A_TIME }, (_, at) => work(at)));
}

async function acquireAndRelease(client: string, settings: Omit<LockSettings, 'ownerToken'>) {
  const lock = createLock(optionsOf(client, { ...settings, ownerToken: newToken() }));
  await lock.acquire(new AbortController().signal);
  await lock.release();
}

/** Made up of the instance and the request, like those of the service. */
function newToken() {
  return `${randomUUID()}:${randomUUID()}`;
}

function resources(): Resources {
  for (let round = 0; round < 2; round += 1) globalThis.gc?.();
  return {
    heapBytes: process.memoryUsage().heapUsed,
    timers: process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length,
  };
}

/** Keeps how long this process waited for its turn. What the lock itself works does not count. */
function watchTurns() {
  const workedMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  let last = { at: sharedClock(), workedMs: workedMs() };
  setInterval(() => {
    const now = { at: sharedClock(), workedMs: workedMs() };
    const waitedMs = now.at - last.at - LOOK_MS - (now.workedMs - last.workedMs);
    last = now;
    if (waitedMs > LOOK_MS) standstills.push({ at: now.at, waitedMs });
    while (standstills[0] && standstills[0].at < now.at - KEPT_MS) standstills.shift();
  }, LOOK_MS).unref();
}

function errorSaid(error: unknown): ErrorSaid {
  if (!(error instanceof Error)) return { name: 'no error', message: String(error) };
  const { name, message, code } = error as Error & { code?: unknown };
  return { name, message, ...(code !== undefined && { code: String(code) }) };
}
