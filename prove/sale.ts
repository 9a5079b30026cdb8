// A sale as the service makes it: enter, read, do business, write, leave, release.

import { type RunScript, readScript } from '../locks/drivers/script.ts';
import type { CreateLock, Lock, RedisClient } from '../locks/lock.ts';

export const LEASE_MS = 900;
export const RETRY_DELAY_MS = 300;
export const LOCK_KEY = 'lock';
export const STOCK_KEY = 'stock';
export const FENCE_KEY = 'fence';

const readIfNewest: RunScript<string | null | number> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');

/** What a sale does besides. */
export interface SaleScript {
  /** How long it takes between read and write, in milliseconds; 0 when it goes on at once. */
  businessMs: number;
  /** `same object`: it asks its own lock once more between read and write; `another object`: one of the same request. */
  nested?: 'same object' | 'another object';
}

export type SaleStep = 'entered' | 'nested' | 'read' | 'wrote' | 'sold out' | 'left' | 'released' | 'failed';

export interface SaleParts {
  /** Whose sales these are: A, B, … */
  name: string;
  createLock: CreateLock;
  redis: RedisClient;
  /** Servers that vote, for the locks that ask several. */
  masters: RedisClient[];
  script: SaleScript;
  /** Aborts when nobody waits for the sale any more. */
  signal: AbortSignal;
  sleep(ms: number): Promise<unknown>;
  /** Told each step when it has happened. Sales are numbered from 1. */
  emit(sale: number, step: SaleStep, more?: { stock?: number; why?: string }): void;
}

/** Makes so many sales, one after the other. Resolves when all have ended, however they did. */
export async function sellAll(sales: number, parts: SaleParts) {
  for (let sale = 1; sale <= sales; sale += 1) await sellOne(sale, parts);
}

async function sellOne(sale: number, parts: SaleParts) {
  const { createLock, redis, masters, name, signal, emit } = parts;
  const open = () =>
    createLock({
      redis,
      masters,
      key: LOCK_KEY,
      ownerToken: `${name}:${sale}`,
      leaseMs: LEASE_MS,
      retryDelayMs: RETRY_DELAY_MS,
      onLeaseLost() {},
    } as unknown as Parameters<CreateLock>[0]);
  try {
    const lock = open();
    await lock.acquire(signal);
    emit(sale, 'entered');
    try {
      // The wait may have ended while the server was granting the lock.
      signal.throwIfAborted();
      await sellInside(sale, lock, open, parts);
    } finally {
      emit(sale, 'left');
      await lock.release();
      emit(sale, 'released');
    }
  } catch (error) {
    emit(sale, 'failed', { why: error instanceof Error ? error.message : String(error) });
  }
}

async function sellInside(sale: number, lock: Lock, open: () => Lock, parts: SaleParts) {
  const { script, signal, sleep, emit } = parts;
  const stock = await read(lock, parts);
  emit(sale, 'read', { stock });
  if (script.nested) {
    const nested = script.nested === 'same object' ? lock : open();
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

async function read({ fencingToken, hasUnfencedReads }: Lock, { redis }: SaleParts): Promise<number> {
  if (fencingToken === undefined || hasUnfencedReads) return Number(await redis.get(STOCK_KEY));
  const answer = await readIfNewest(redis, [STOCK_KEY, FENCE_KEY], [LOCK_KEY, fencingToken]);
  if (answer === -1) throw new Error('STALE_TOKEN');
  return Number(answer);
}

async function write(stock: number, { fencingToken }: Lock, { redis }: SaleParts) {
  if (fencingToken === undefined) return void (await redis.set(STOCK_KEY, stock));
  const isWritten = await writeIfNewest(redis, [STOCK_KEY, FENCE_KEY], [stock, LOCK_KEY, fencingToken]);
  if (isWritten === 0) throw new Error('STALE_TOKEN');
}
