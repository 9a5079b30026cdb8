// A sale as the service makes it: enter, read, do business, write, leave, release.

import { type RunScript, readScript } from '../locks/drivers/script.ts';
import type {
  Bucket,
  CreateLock,
  CreateMultiLock,
  Lock,
  MultiLock,
  RedisClient,
  SaleOptions,
  TakeOne,
} from '../locks/lock.ts';
import { reasonOf } from '../virtual/places.ts';

export const LEASE_MS = 900;
export const RETRY_DELAY_MS = 300;
export const LOCK_KEY = 'lock';
export const STOCK_KEY = 'stock';
export const FENCE_KEY = 'fence';
/** In so many buckets lies a stock that lies in several. */
export const BUCKET_COUNT = 2;
/** The name of a key in a bucket: the plain one in the first. */
export const inBucket = (name: string, bucket: number) => (bucket === 0 ? name : `${name}:${bucket}`);

/** The keys of a sku. They are numbered from 1, and the first has those above. */
export function keysOf(sku: number) {
  const suffix = sku === 1 ? '' : `:${sku}`;
  return { lock: `${LOCK_KEY}${suffix}`, stock: `${STOCK_KEY}${suffix}`, fence: `${FENCE_KEY}${suffix}` };
}

const readIfNewest: RunScript<string | null | number> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');

/** What a sale does besides. */
export interface SaleScript {
  /** How long it takes between read and write, in milliseconds; 0 when it goes on at once. */
  businessMs: number;
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

/** What the file of a strategy exports. */
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
  emit(sale: number, step: SaleStep, more?: { stock?: number; bucket?: number; why?: string }): void;
}

/**
 * Makes so many sales, one after the other; all at once, where they may be sold together or the script says so. Resolves when all
 * have ended, however they did.
 */
export async function sellAll(sales: number, parts: SaleParts) {
  const { takeOne, script } = parts;
  const numbers = Array.from({ length: sales }, (_, index) => index + 1);
  if (takeOne && !script.putsBack) await Promise.all(numbers.map((sale) => takeUnit(takeOne, sale, parts)));
  else if (script.isAtOnce) await Promise.all(numbers.map((sale) => doOne(sale, parts)));
  else for (const sale of numbers) await doOne(sale, parts);
}

function doOne(sale: number, parts: SaleParts): Promise<void> {
  const { createLock, createReadLock = createLock, script } = parts;
  const { basket } = script;
  if (basket)
    return enter(sale, parts, openLocks(basket, sale, parts), (lock) => sellAllInside(basket, sale, lock, parts));
  const open = () => openLock(script.isReader ? createReadLock : createLock, sale, parts);
  const work = script.putsBack ? putBackInside : script.isReader ? lookInside : sellInside;
  return enter(sale, parts, open, (lock) => work(sale, lock, parts));
}

function openLock(createLock: CreateLock, sale: number, parts: SaleParts, bucket = 0): Lock {
  const options = { ...optionsOf(sale, parts), key: inBucket(LOCK_KEY, bucket) };
  return createLock(options as unknown as Parameters<CreateLock>[0]);
}

function optionsOf(sale: number, { name, redis, masters }: SaleParts) {
  return {
    redis,
    masters,
    ownerToken: `${name}:${sale}`,
    leaseMs: LEASE_MS,
    retryDelayMs: RETRY_DELAY_MS,
    onLeaseLost() {},
  };
}

/** A sale that the strategy makes in a way of its own. It is inside until it has its answer. */
async function takeUnit(takeOne: TakeOne, sale: number, parts: SaleParts) {
  const { redis, script, signal, sleep, ask } = parts;
  let isInside = false;
  const emit: SaleParts['emit'] = (of, step, more) => {
    if (step === 'entered' || step === 'left') isInside = step === 'entered';
    parts.emit(of, step, more);
  };
  const options = {
    redis,
    sku: '001',
    stockKey: STOCK_KEY,
    stock: {
      read: (fencingToken) => read({ fencingToken }, parts),
      write: (stock, fencingToken) => write(stock, { fencingToken }, parts),
    },
    openLock: (createLock) => openLock(createLock, sale, parts),
    buckets: Array.from({ length: BUCKET_COUNT }, (_, bucket) => openBucket(bucket, sale, { ...parts, emit })),
    async readBuckets() {
      const keys = Array.from({ length: BUCKET_COUNT }, (_, bucket) => inBucket(STOCK_KEY, bucket));
      return (await redis.mget(...keys)).map((units) => (units === null ? undefined : Number(units)));
    },
    signal,
    business: async () => {
      if (script.businessMs > 0) await sleep(script.businessMs);
    },
    emit(step, stock) {
      if (step === 'entered') emit(sale, 'entered');
      if (step === 'waiting') emit(sale, 'waits again');
      if (stock !== undefined && (step === 'read' || step === 'wrote')) emit(sale, step, { stock });
    },
  } satisfies Partial<SaleOptions>;
  try {
    ask(sale);
    const stockBefore = await takeOne(options as unknown as SaleOptions);
    if (stockBefore === 0) emit(sale, 'sold out');
    if (isInside) emit(sale, 'left');
    emit(sale, 'released');
  } catch (error) {
    emit(sale, 'failed', { why: reasonOf(error) });
  }
}

/** One of the places of a stock that lies in several. A sale that has left one is in none. */
function openBucket(bucket: number, sale: number, parts: SaleParts): Bucket {
  return {
    stock: {
      read: (fencingToken) => read({ fencingToken }, parts, placeOfBucket(bucket)),
      write: (stock, fencingToken) => write(stock, { fencingToken }, parts, placeOfBucket(bucket)),
    },
    openLock: (createLock) => openLock(createLock, sale, parts, bucket),
    emit(step, stock) {
      if (step === 'entered' || step === 'left') parts.emit(sale, step, { bucket });
      if (stock !== undefined && (step === 'read' || step === 'wrote')) parts.emit(sale, step, { stock, bucket });
    },
  };
}

/** Asks for what `open` opens, and does the work inside it. */
async function enter<Held extends Pick<Lock, 'acquire' | 'release'>>(
  sale: number,
  { signal, ask, emit }: SaleParts,
  open: () => Held,
  work: (lock: Held) => Promise<void>,
) {
  try {
    ask(sale);
    const lock = open();
    await lock.acquire(signal);
    emit(sale, 'entered');
    try {
      // The wait may have ended while the server was granting the lock.
      signal.throwIfAborted();
      await work(lock);
    } finally {
      emit(sale, 'left');
      await lock.release();
      emit(sale, 'released');
    }
  } catch (error) {
    emit(sale, 'failed', { why: reasonOf(error) });
  }
}

async function sellInside(sale: number, lock: Lock, parts: SaleParts) {
  const { createLock, script, signal, sleep, emit } = parts;
  const stock = await read(lock, parts);
  emit(sale, 'read', { stock });
  if (script.nested) {
    const nested = script.nested === 'same object' ? lock : openLock(createLock, sale, parts);
    await nested.acquire(signal);
    emit(sale, 'nested');
    await nested.release();
  }
  if (script.businessMs > 0) await sleep(script.businessMs);
  if (stock === 0) return emit(sale, 'sold out');
  // A holder that knows that it has lost the lock writes nothing.
  lock.lost?.throwIfAborted();
  await write(stock - 1, lock, parts);
  emit(sale, 'wrote', { stock: stock - 1 });
}

/** One who only looks sees the same stock twice. */
async function lookInside(sale: number, lock: Lock, parts: SaleParts) {
  for (let time = 1; time <= 2; time += 1) parts.emit(sale, 'read', { stock: await read(lock, parts) });
}

/** The locks of several skus at once. */
const openLocks = (skus: number[], sale: number, parts: SaleParts) => () => {
  const { createMultiLock } = parts;
  if (createMultiLock === undefined) throw new Error('it exports no createMultiLock');
  const options = optionsOf(sale, parts) as unknown as Parameters<CreateMultiLock>[0];
  const keys = skus.map((sku) => keysOf(sku).lock);
  return createMultiLock(options, keys);
};

/** A sale of several skus: all are read, then all are written. */
async function sellAllInside(skus: number[], sale: number, lock: MultiLock, parts: SaleParts) {
  const { script, sleep, emit } = parts;
  const tokenOf = (sku: number) => ({ fencingToken: lock.fencingTokenOf(keysOf(sku).lock) });
  const stocks: number[] = [];
  for (const sku of skus) stocks.push(await read(tokenOf(sku), parts, placeOfSku(sku)));
  emit(sale, 'read');
  if (script.businessMs > 0) await sleep(script.businessMs);
  if (stocks.includes(0)) return emit(sale, 'sold out');
  lock.lost.throwIfAborted();
  for (const [at, sku] of skus.entries()) await write((stocks[at] ?? 0) - 1, tokenOf(sku), parts, placeOfSku(sku));
  emit(sale, 'wrote');
}

async function putBackInside(sale: number, lock: Lock, parts: SaleParts) {
  const stock = (await read(lock, parts)) + 1;
  lock.lost?.throwIfAborted();
  await write(stock, lock, parts);
  parts.emit(sale, 'put back', { stock });
}

/** Where a stock lies, and the name under which its fence knows the tokens of its lock. */
interface Place {
  stock: string;
  fence: string;
  lock: string;
}

const placeOfSku = (sku: number): Place => ({ ...keysOf(sku), lock: LOCK_KEY });
const placeOfBucket = (bucket: number): Place => ({
  stock: inBucket(STOCK_KEY, bucket),
  fence: FENCE_KEY,
  lock: inBucket(LOCK_KEY, bucket),
});

async function read(
  { fencingToken, hasUnfencedReads }: Partial<Lock>,
  { redis }: SaleParts,
  { stock, fence, lock } = placeOfSku(1),
): Promise<number> {
  if (fencingToken === undefined || hasUnfencedReads) return Number(await redis.get(stock));
  const answer = await readIfNewest(redis, [stock, fence], [lock, fencingToken]);
  if (answer === -1) throw new Error('STALE_TOKEN');
  return Number(answer);
}

async function write(
  units: number,
  { fencingToken }: Partial<Lock>,
  { redis }: SaleParts,
  { stock, fence, lock } = placeOfSku(1),
) {
  if (fencingToken === undefined) return void (await redis.set(stock, units));
  const isWritten = await writeIfNewest(redis, [stock, fence], [units, lock, fencingToken]);
  if (isWritten === 0) throw new Error('STALE_TOKEN');
}
