// Beyond · combine
// Problem: under a lock, every sale waits for the two round trips to Redis of each sale before it.
// Change:  the holder sells for all waiters on its node, with one read and one fenced write for the whole batch.
// Leaves:  a write that is refused or unanswered affects the whole batch, and one slow sale delays it.
// Source:  Hendler, Incze, Shavit, Tzafrir, Flat combining and the synchronization-parallelism tradeoff, 2010.

import { abortError } from '../drivers/abortable.ts';
import type { CreateLock, Lock, RedisClient, SaleOptions, TakeOne } from '../lock.ts';
import { createFencedLock } from './cohort.ts';

/** The lock under which a batch is sold and units are returned. */
export const createLock: CreateLock = createFencedLock;

export const takeOne: TakeOne = (options) =>
  new Promise((resolve, reject) => joinQueue(new Sale(options, resolve, reject)));

/** A waiting sale. */
class Sale {
  readonly options: SaleOptions;
  readonly resolve: (stockBefore: number | undefined) => void;
  readonly reject: (error: unknown) => void;

  constructor(options: SaleOptions, resolve: Sale['resolve'], reject: Sale['reject']) {
    this.options = options;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Called when the signal aborts. */
  handleEvent() {
    leaveQueue(this);
  }
}

/** The waiting sales of this process, by stock key. The first sale of a queue acquires the lock. */
const queues = new WeakMap<RedisClient, Map<string, Sale[]>>();

function queuesOf({ redis }: SaleOptions) {
  const ofClient = queues.get(redis) ?? new Map<string, Sale[]>();
  queues.set(redis, ofClient);
  return ofClient;
}

function joinQueue(sale: Sale) {
  const { stockKey, signal } = sale.options;
  signal.addEventListener('abort', sale);
  const ofClient = queuesOf(sale.options);
  const queue = ofClient.get(stockKey);
  if (queue) return void queue.push(sale);
  ofClient.set(stockKey, [sale]);
  sellForAll(sale);
}

function leaveQueue(sale: Sale) {
  const { stockKey, signal } = sale.options;
  const queue = queuesOf(sale.options).get(stockKey) ?? [];
  const wasFirst = queue[0] === sale;
  queue.splice(queue.indexOf(sale), 1);
  sale.reject(abortError(signal));
  if (queue[0] === undefined) queuesOf(sale.options).delete(stockKey);
  else if (wasFirst) sellForAll(queue[0]);
}

/** Takes all waiting sales as one batch; later sales wait in a new queue. Empty if the first sale has left. */
function closeQueue(first: Sale): Sale[] {
  const { stockKey } = first.options;
  const queue = queuesOf(first.options).get(stockKey);
  if (queue?.[0] !== first) return [];
  queuesOf(first.options).delete(stockKey);
  for (const sale of queue) sale.options.signal.removeEventListener('abort', sale);
  return queue;
}

/** The first sale has the lock, so it is answered last, after the release. */
async function sellForAll(first: Sale) {
  const { signal, stock, openLock } = first.options;
  const lock = openLock(createLock);
  try {
    await lock.acquire(signal);
  } catch (error) {
    for (const sale of closeQueue(first)) sale.reject(error);
    return;
  }
  const batch = closeQueue(first);
  const others = batch.slice(1);
  let stockBefore: (number | undefined)[] = [];
  let failure: unknown;
  try {
    stockBefore = await sell(batch, lock, stock);
    for (const [index, sale] of others.entries()) sale.resolve(stockBefore[index + 1]);
  } catch (error) {
    failure = error;
    for (const sale of others) sale.reject(error);
  }
  await lock.release().catch((error) => (failure ??= error));
  if (failure === undefined) first.resolve(stockBefore[0]);
  else first.reject(failure);
}

/** Resolves with the stock before each sale. Between one read and one write, each sale in turn takes a unit. */
async function sell(batch: Sale[], { lost, fencingToken }: Lock, stock: SaleOptions['stock']) {
  if (batch.length === 0) return [];
  batch[0]?.options.emit('entered');
  const stockAtFirst = await stock.read(fencingToken);
  if (stockAtFirst === undefined) return [];
  let left = stockAtFirst;
  const buyers: { options: SaleOptions; remaining: number }[] = [];
  const stockBefore: number[] = [];
  for (const [index, { options }] of batch.entries()) {
    const { business, emit } = options;
    stockBefore.push(left);
    if (index > 0) emit('entered');
    emit('read', left);
    if (left > 0) {
      await business();
      left -= 1;
      buyers.push({ options, remaining: left });
    }
    emit('left');
  }
  if (buyers.length === 0) return stockBefore;
  lost?.throwIfAborted();
  const written = stock.write(left, fencingToken);
  await Promise.all(buyers.map(({ options }) => options.write(() => written)));
  for (const { options, remaining } of buyers) options.emit('wrote', remaining);
  return stockBefore;
}
