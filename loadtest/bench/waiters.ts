// One process of the bench: its waiters acquire one lock again and again, over the single Redis client of the process.
// Messages steer it: `start`, `measure`, `stop`; it tells when it is ready, and at the end what it counted.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bucket, CreateLock, SaleOptions, TakeOne } from '../../locks/lock.ts';
import { connectServers } from '../../services/inventory/servers/servers.ts';
import { connectStore, lockKey, nameInBucket, stockKey } from '../../services/inventory/servers/store.ts';
import { inventorySettings } from '../../services/inventory/settings/settings.ts';
import { loadWay, strategyOf } from './contestants.ts';

export interface WaitersOptions {
  lock: string;
  waiters: number;
  /** The settings of a node: its servers, the lease and the delay between two tries. */
  env: NodeJS.ProcessEnv;
  /** Of what they buy: each turn has a sku of its own. */
  sku: string;
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
  waits: ArrayLike<number> & Iterable<number>;
  /** When each acquisition took place, from the start on, and when the window began: by a clock that all processes share. */
  enteredAt: ArrayLike<number> & Iterable<number>;
  measuredFrom: number;
  /** How long those have waited who got nothing in the whole window. */
  starved: number[];
  /** Acquisitions and releases that were rejected. One of the reasons. */
  errors: number;
  error?: string | undefined;
}

const options: WaitersOptions = JSON.parse(process.argv[2] ?? '');
const way = await loadWay(options.lock);
const settings = inventorySettings.parse(options.env);
const { LEASE_MS: leaseMs, RETRY_DELAY_MS: retryDelayMs, PERMITS: permits } = settings;
const store = connectStore(settings.REDIS_URL, settings.BUCKETS);
const { redis } = store;
const servers = connectServers(redis, settings);
await store.back();
const { sku } = options;
const lock = strategyOf(options.lock);
/** A library that votes is given the masters as our own is. */
const its = servers.forLock(settings.REDLOCK_URLS ? 'redlock' : lock, leaseMs);
await Promise.all((its.masters ?? []).map((master) => master.status === 'ready' || once(master, 'ready')));

const instance = randomUUID();
const waits: number[] = [];
const enteredAt: number[] = [];
let sections = 0;
let measuredFrom = Number.POSITIVE_INFINITY;
let errors = 0;
let firstError: string | undefined;
/** Since when each waiter waits; undefined while it is inside. */
const waitingSince: (number | undefined)[] = [];
const patience = Array.from({ length: options.waiters }, () => new AbortController());
let cpuBefore = process.cpuUsage();
let asked = 0;
let busy = 0;
let isStopped = false;
let onEmpty = () => {};

process.on('message', (message) => {
  if (message === 'start') for (const [waiter, { signal }] of patience.entries()) void wait(waiter, signal);
  if (message === 'measure') {
    measuredFrom = monotonicMs();
    cpuBefore = process.cpuUsage();
  }
  if (message === 'stop') void stop();
});
// Nobody is there to answer any more.
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function wait(waiter: number, signal: AbortSignal) {
  const sell = 'takeOne' in way ? inOneGo(way.takeOne, waiter, signal) : underLock(way.createLock, waiter, signal);
  while (!isStopped) {
    waitingSince[waiter] = monotonicMs();
    try {
      await sell();
    } catch (error) {
      if (isStopped) return;
      fail(error);
      await sleep(retryDelayMs);
    }
  }
}

/** The section around which the lock is: one GET and one SET. A waiter that was not alone writes a number that another has written, too. */
function underLock(createLock: CreateLock, waiter: number, signal: AbortSignal) {
  return async () => {
    const lock = openLock(createLock);
    await lock.acquire(signal);
    enter(waiter);
    if (!isStopped) {
      await inside(async () => {
        const units = Number(await redis.get(stockKey(sku)));
        await redis.set(stockKey(sku), units - 1);
      });
      // A sale asks for this before it is answered.
      await lock.confirm?.();
    }
    await lock.release();
  };
}

/** A sale that needs no lock around it. It has entered when it begins. */
function inOneGo(takeOne: TakeOne, waiter: number, signal: AbortSignal) {
  const emit: SaleOptions['emit'] = (step) => {
    if (step === 'entered' || step === 'began') enter(waiter);
  };
  const bucketAt = (bucket: number): Bucket => ({
    stock: store.bucketOf(sku, lock, bucket),
    openLock: (create) => openLock(create, bucket),
    emit,
  });
  const sale: SaleOptions = {
    ...its,
    ...bucketAt(0),
    ...{ sku, stockKey: stockKey(sku), signal, business: async () => {}, write: (send) => send() },
    buckets: Array.from({ length: store.buckets }, (_, bucket) => bucketAt(bucket)),
    readBuckets: () => store.readBuckets(sku),
  };
  return () => inside(() => takeOne(sale));
}

function openLock(createLock: CreateLock, bucket = 0) {
  asked += 1;
  const key = lockKey(sku, nameInBucket(lock, bucket));
  const onLeaseLost = () => fail(new Error('The lease was lost.'));
  const own = {
    key,
    ownerToken: `${instance}:${asked}`,
    leaseMs,
    renewEveryMs: leaseMs / 3,
    retryDelayMs,
    permits,
    onLeaseLost,
  };
  return createLock({ ...its, ...own });
}

function enter(waiter: number) {
  const now = monotonicMs();
  const since = waitingSince[waiter] ?? now;
  waitingSince[waiter] = undefined;
  if (isStopped) return;
  enteredAt.push(now);
  if (now >= measuredFrom) waits.push(now - since);
}

/** What is under way when all is over has its end. */
async function inside(work: () => Promise<unknown>) {
  busy += 1;
  try {
    await work();
    sections += 1;
  } finally {
    busy -= 1;
    if (busy === 0) onEmpty();
  }
}

/** The time since the machine started, in milliseconds: the same in every process, other than performance.now(). */
function monotonicMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function fail(error: unknown) {
  errors += 1;
  firstError ??= error instanceof Error ? error.message : String(error);
}

async function stop() {
  const now = monotonicMs();
  const from = Math.min(measuredFrom, now);
  isStopped = true;
  const { user, system } = process.cpuUsage(cpuBefore);
  const starved = waitingSince
    .filter((since) => since !== undefined && since <= from)
    .map((since) => now - Number(since));
  for (const waiter of patience) waiter.abort();
  if (busy > 0) await new Promise<void>((resolve) => (onEmpty = resolve));
  const counted: Counted = {
    sections,
    windowMs: now - from,
    cpuMicros: user + system,
    waits: Float64Array.from(waits),
    enteredAt: Float64Array.from(enteredAt),
    measuredFrom,
    starved,
    errors,
    error: firstError,
  };
  process.send?.(counted);
}
