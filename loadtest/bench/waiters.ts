// One process of the bench: so many waiters that ask for one lock again and again, on the one Redis client that a process has.
// Messages steer it: `start`, `measure`, `stop`; it answers `ready`, `warm`, and at the end what it counted.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectServers } from '../../services/inventory/servers.ts';
import { inventorySettings } from '../../services/inventory/settings.ts';
import { connectStore } from '../../services/inventory/store.ts';
import { loadLock } from './contestants.ts';

export interface WaitersOptions {
  lock: string;
  waiters: number;
  /** The settings of a node: its servers, the lease and the delay between two tries. */
  env: NodeJS.ProcessEnv;
  key: string;
  counterKey: string;
}

/** What one process counted. Times in milliseconds. */
export interface Counted {
  /** Sections from the start to the very end. */
  sections: number;
  /** Length of the window that was measured. */
  windowMs: number;
  /** The CPU time that the process used in it, in microseconds. */
  cpuMicros: number;
  /** How long each acquisition of the window had waited. */
  waits: number[];
  /** When each acquisition took place, from the start on, and when the window began: by a clock that all processes share. */
  enteredAt: number[];
  measuredFrom: number;
  /** How long those have waited who got nothing in the whole window. */
  starved: number[];
  /** Acquisitions and releases that were rejected. One of the reasons. */
  errors: number;
  error?: string | undefined;
}

const options: WaitersOptions = JSON.parse(process.argv[2] ?? '');
const createLock = await loadLock(options.lock);
const settings = inventorySettings.parse(options.env);
const { LEASE_MS: leaseMs, RETRY_DELAY_MS: retryDelayMs } = settings;
const store = connectStore(settings.REDIS_URL);
const { redis } = store;
const servers = connectServers(redis, settings);
await store.back();
if (settings.REDLOCK_URLS) {
  const { masters } = servers.forLease(leaseMs);
  await Promise.all(masters.map((master) => master.status === 'ready' || once(master, 'ready')));
}

const instance = randomUUID();
const counted: Counted = {
  sections: 0,
  windowMs: 0,
  cpuMicros: 0,
  waits: [],
  enteredAt: [],
  measuredFrom: Number.POSITIVE_INFINITY,
  starved: [],
  errors: 0,
};
/** Since when each waiter waits; undefined while it is inside. */
const waitingSince: (number | undefined)[] = [];
const patience = Array.from({ length: options.waiters }, () => new AbortController());
let cpuBefore = process.cpuUsage();
let asked = 0;
let inside = 0;
let isStopped = false;
let onEmpty = () => {};

process.on('message', (message) => {
  if (message === 'start') for (const [waiter, { signal }] of patience.entries()) void wait(waiter, signal);
  if (message === 'measure') {
    counted.measuredFrom = monotonicMs();
    cpuBefore = process.cpuUsage();
  }
  if (message === 'stop') void stop();
});
// Nobody is there to answer any more.
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function wait(waiter: number, signal: AbortSignal) {
  while (!isStopped) {
    asked += 1;
    const lock = createLock(
      // Not a spread: that would ask for every server at once.
      Object.assign(servers.forLease(leaseMs), {
        key: options.key,
        ownerToken: `${instance}:${asked}`,
        leaseMs,
        retryDelayMs,
        onLeaseLost: () => fail(new Error('The lease was lost.')),
      }),
    );
    const since = monotonicMs();
    waitingSince[waiter] = since;
    try {
      await lock.acquire(signal);
      const now = monotonicMs();
      waitingSince[waiter] = undefined;
      if (!isStopped) {
        counted.enteredAt.push(now);
        if (now >= counted.measuredFrom) counted.waits.push(now - since);
        await section();
        // A sale asks for this before it is answered.
        await lock.confirm?.();
      }
      await lock.release();
    } catch (error) {
      if (isStopped) return;
      fail(error);
      await sleep(retryDelayMs);
    }
  }
}

/** One GET and one SET: a waiter that was not alone writes a number that another has written, too. */
async function section() {
  inside += 1;
  try {
    const count = Number(await redis.get(options.counterKey));
    await redis.set(options.counterKey, count + 1);
    counted.sections += 1;
    if (counted.sections === options.waiters) process.send?.('warm');
  } finally {
    inside -= 1;
    if (inside === 0) onEmpty();
  }
}

/** The time since the machine started, in milliseconds: the same in every process, other than performance.now(). */
function monotonicMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function fail(error: unknown) {
  counted.errors += 1;
  counted.error ??= error instanceof Error ? error.message : String(error);
}

async function stop() {
  const now = monotonicMs();
  const from = Math.min(counted.measuredFrom, now);
  isStopped = true;
  const { user, system } = process.cpuUsage(cpuBefore);
  counted.cpuMicros = user + system;
  counted.windowMs = now - from;
  counted.starved = waitingSince
    .filter((since) => since !== undefined && since <= from)
    .map((since) => now - Number(since));
  for (const waiter of patience) waiter.abort();
  if (inside > 0) await new Promise<void>((resolve) => (onEmpty = resolve));
  process.send?.(counted);
}
