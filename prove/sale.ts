// The service's own sale under the model checker: on its keys, and reported step by step.

import type { Bucket, CreateLock, CreateMultiLock, Lock, RedisClient, SaleOptions, TakeOne } from '../locks/lock.ts';
import { ProblemError } from '../services/inventory/problem.ts';
import { sellAll as sellBasket } from '../services/inventory/sale/basket.ts';
import {
  putBack,
  type SaleParts as SaleOfOne,
  sellAtomically,
  sellOne,
  underLock,
} from '../services/inventory/sale/sale.ts';
import { fencedStock, nameInBucket, type StockPlace } from '../services/inventory/servers/store.ts';
import { reasonOf } from '../simulation/places.ts';

export const LEASE_MS = 900;
export const RETRY_DELAY_MS = 300;
export const LOCK_KEY = 'lock';
export const STOCK_KEY = 'stock';
export const FENCE_KEY = 'fence';
/** The number of buckets of a stock that is split. */
export const BUCKET_COUNT = 2;
/** The names of a key in all buckets: in the first one it is the plain name. */
export const inBuckets = (name: string) => Array.from({ length: BUCKET_COUNT }, (_, at) => nameInBucket(name, at));
/** The keys of a sku. Skus are numbered from 1, and the first has the keys above. */
export function keysOf(sku: number) {
  const suffix = sku === 1 ? '' : `:${sku}`;
  return { lock: `${LOCK_KEY}${suffix}`, stock: `${STOCK_KEY}${suffix}`, fence: `${FENCE_KEY}${suffix}` };
}

/** Options of a sale. */
export interface SaleScript {
  /** The key of its lock; LOCK_KEY when it is not given. */
  key?: string;
  /** How long it takes between read and write, in milliseconds; 0 when it continues at once. */
  businessMs: number;
  /** How many a semaphore lets in at once; one when it is not given. */
  permits?: number;
  /** `same object`: it asks its own lock once more between read and write; `another object`: one of the same request. */
  nested?: 'same object' | 'another object';
  /** It only looks: it reads the stock twice, under the read lock. */
  isReader?: boolean;
  /** Several skus that it sells together, in the order in which it asks for their locks. */
  basket?: number[];
  /** It puts a unit back instead, into the first bucket, as the service does. */
  putsBack?: boolean;
  /** It makes its sales at the same time, and not one after the other. */
  isAtOnce?: boolean;
}

export type SaleStep =
  | 'entered'
  | 'nested'
  | 'read'
  | 'wrote'
  | 'put back'
  | 'sold out'
  | 'left'
  | 'waits again'
  | 'released'
  | 'failed';

/** The exports of a strategy's file. */
export interface LockModule {
  createLock: CreateLock;
  /** The lock for those who only look, when it has one. */
  createReadLock?: CreateLock;
  /** How it sells, when it sells in a way of its own. */
  takeOne?: TakeOne;
  /** How it locks several skus, when it does. */
  createMultiLock?: CreateMultiLock;
}

export interface SaleParts extends LockModule {
  /** Whose sales these are: A, B, … */
  name: string;
  redis: RedisClient;
  /** Servers that vote, for the locks that ask several. */
  masters: RedisClient[];
  script: SaleScript;
  /** Aborts when nobody waits for the sale any more. */
  signal: AbortSignal;
  sleep(ms: number): Promise<unknown>;
  /** Told when a sale asks for the lock. Sales are numbered from 1. */
  ask(sale: number): void;
  /** Told each step when it has happened. */
  emit(sale: number, step: SaleStep, more?: { stock?: number; bucket?: number; why?: string; isStale?: true }): void;
}

/**
 * Makes so many sales, one after the other; all at once, where they may be sold together or the script says so. Resolves when all
 * have ended, however they did.
 */
export async function sellAll(sales: number, parts: SaleParts) {
  const { takeOne, script } = parts;
  const numbers = Array.from({ length: sales }, (_, index) => index + 1);
  const areAtOnce = script.isAtOnce || (takeOne && !script.putsBack);
  if (areAtOnce) await Promise.all(numbers.map((sale) => sell(sale, parts)));
  else for (const sale of numbers) await sell(sale, parts);
}

/** One sale, or what the script has in its place. It tells how that ended. */
async function sell(sale: number, parts: SaleParts) {
  const { takeOne, script, ask, emit } = parts;
  ask(sale);
  try {
    if (script.basket) await sellSkus(script.basket, sale, parts);
    else if (script.putsBack) await putUnitBack(sale, parts);
    else if (script.isReader) await lookTwice(sale, parts);
    else if (takeOne) await takeUnit(takeOne, sale, parts);
    else await sellUnit(sale, parts);
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'OUT_OF_STOCK') emit(sale, 'sold out');
    else if (isStale(error)) emit(sale, 'failed', { why: 'STALE_TOKEN', isStale: true });
    else emit(sale, 'failed', { why: reasonOf(error) });
  }
}

function sellUnit(sale: number, parts: SaleParts) {
  const { createLock, script, signal } = parts;
  const lock = openLock(createLock, sale, parts);
  const again = () => (script.nested === 'same object' ? lock : openLock(createLock, sale, parts));
  async function business() {
    if (script.nested) {
      const nested = again();
      await nested.acquire(signal);
      parts.emit(sale, 'nested');
      await nested.release();
    }
    await rest(parts);
  }
  return sellOne({ ...partsOf(sale, parts), lock, business });
}

function putUnitBack(sale: number, parts: SaleParts) {
  const { stock, ...own } = partsOf(sale, parts);
  async function write(units: number, token: string | undefined) {
    await stock.write(units, token);
    parts.emit(sale, 'put back', { stock: units });
    return undefined;
  }
  const lock = openLock(parts.createLock, sale, parts);
  return putBack({ ...own, units: 1, lock, stock: { ...stock, write } });
}

/** One who only looks sees the same stock twice. */
function lookTwice(sale: number, parts: SaleParts) {
  const { createLock, createReadLock = createLock } = parts;
  const lock = openLock(createReadLock, sale, parts);
  const { stock, ...own } = partsOf(sale, parts);
  return underLock({ ...own, lock }, async () => {
    for (let time = 1; time <= 2; time += 1)
      parts.emit(sale, 'read', { stock: Number(await stock.read(lock.fencingToken)) });
  });
}

/** A sale that the strategy makes in a way of its own. It is inside until it has written, or has its answer. */
async function takeUnit(takeOne: TakeOne, sale: number, parts: SaleParts) {
  const { redis } = parts;
  let isInside = false;
  const emit: SaleParts['emit'] = (of, step, more) => {
    if (step === 'entered') isInside = true;
    if (step === 'left' && !isInside) return;
    if (step === 'left') isInside = false;
    parts.emit(of, step, more);
  };
  const own = { ...parts, emit };
  const { emit: emitStep } = partsOf(sale, own);
  const options = {
    redis,
    sku: '001',
    stockKey: STOCK_KEY,
    stock: fencedStock(parts.redis, placeOfSku(1)),
    openLock: (createLock) => openLock(createLock, sale, parts),
    buckets: Array.from({ length: BUCKET_COUNT }, (_, bucket) => openBucket(bucket, sale, own)),
    async readBuckets() {
      return (await redis.mget(...inBuckets(STOCK_KEY))).map((units) => (units === null ? undefined : Number(units)));
    },
    signal: parts.signal,
    business: () => rest(parts),
    write: (send) => send(),
    emit(step, stock) {
      if (step === 'entered') emit(sale, 'entered');
      if (step === 'waiting') emit(sale, 'waits again');
      if (stock !== undefined && (step === 'read' || step === 'wrote')) emit(sale, step, { stock });
      // What is sold together is given up after it is written, and before any of it has its answer.
      if (step === 'wrote') emit(sale, 'left');
    },
  } satisfies Partial<SaleOptions>;
  await sellAtomically(takeOne, options as unknown as SaleOptions, emitStep);
  emit(sale, 'released');
}

/** One of the places of a stock that lies in several. A sale that has left one is in none. */
function openBucket(bucket: number, sale: number, parts: SaleParts): Bucket {
  return {
    stock: fencedStock(parts.redis, placeOfBucket(bucket)),
    openLock: (createLock) => openLock(createLock, sale, parts, bucket),
    emit(step, stock) {
      if (step === 'entered' || step === 'left') parts.emit(sale, step, { bucket });
      if (stock !== undefined && (step === 'read' || step === 'wrote')) parts.emit(sale, step, { stock, bucket });
    },
  };
}

/** A sale of several skus: all are read, then all are written. */
function sellSkus(skus: number[], sale: number, parts: SaleParts) {
  const { createMultiLock } = parts;
  if (createMultiLock === undefined) throw new Error('it exports no createMultiLock');
  const options = optionsOf(sale, parts) as unknown as Parameters<CreateMultiLock>[0];
  const lock = createMultiLock(
    options,
    skus.map((sku) => keysOf(sku).lock),
  );
  return sellBasket({
    ...partsOf(sale, parts),
    skus: skus.map(String),
    lock,
    stockOf: (sku) => fencedStock(parts.redis, placeOfSku(Number(sku))),
    tokenOf: (sku) => lock.fencingTokenOf(keysOf(Number(sku)).lock),
    business: () => rest(parts),
    progress: { write: 'not sent' },
  });
}

async function rest({ script, sleep }: SaleParts) {
  if (script.businessMs > 0) await sleep(script.businessMs);
}

/** What each sale of the service is given. */
function partsOf(sale: number, parts: SaleParts): Omit<SaleOfOne, 'lock' | 'business'> {
  return {
    sku: '1',
    stock: fencedStock(parts.redis, placeOfSku(1)),
    signal: parts.signal,
    emit(step, stock) {
      if (isTold(step)) parts.emit(sale, step, stock === undefined ? {} : { stock });
    },
  };
}

/** Steps of the service that the search tells of. */
const isTold = (step: string): step is SaleStep => ['entered', 'read', 'wrote', 'left', 'released'].includes(step);

function openLock(createLock: CreateLock, sale: number, parts: SaleParts, bucket = 0): Lock {
  const options = { ...optionsOf(sale, parts), key: nameInBucket(parts.script.key ?? LOCK_KEY, bucket) };
  return createLock(options as unknown as Parameters<CreateLock>[0]);
}

function optionsOf(sale: number, { name, redis, masters, script: { permits = 1 } }: SaleParts) {
  return {
    redis,
    masters,
    ownerToken: `${name}:${sale}`,
    leaseMs: LEASE_MS,
    renewEveryMs: LEASE_MS / 3,
    // A lock that asks several masters pauses for that many times as long, so that together they are asked no more often.
    retryDelayMs: RETRY_DELAY_MS / Math.max(1, masters.length),
    permits,
    onLeaseLost() {},
  };
}

const placeOfSku = (sku: number): StockPlace => ({ ...keysOf(sku), lock: LOCK_KEY });
const placeOfBucket = (bucket: number): StockPlace => ({
  stock: nameInBucket(STOCK_KEY, bucket),
  fence: FENCE_KEY,
  lock: nameInBucket(LOCK_KEY, bucket),
});

const isStale = (error: unknown) => error instanceof ProblemError && error.code === 'STALE_TOKEN';
