import type { FencedStock, Lock, SaleOptions, TakeOne } from '../../../locks/lock.ts';
import { ProblemError } from '../problem.ts';

/** The steps of a sale, emitted as they happen. */
export type SaleStep = Parameters<SaleOptions['emit']>[0] | 'released';

export interface SaleParts {
  sku: string;
  lock: Lock;
  /** The stock. It gets the lock's fencing token, if there is one. */
  stock: FencedStock;
  /** Aborts when the wait for the lock must end; its reason is the resulting error. */
  signal: AbortSignal;
  /** Runs between read and write: does nothing, unless a drill scripts it. */
  business: () => Promise<void>;
  emit: (step: SaleStep, stock?: number) => void;
}

/** The critical section, shared by all locks: resolves with the stock that was read and the stock that was written. */
export function sellOne({ sku, lock, stock, signal, business, emit }: SaleParts) {
  return underLock({ lock, signal, emit }, async () => {
    const stockBefore = await stock.read(tokenOfRead(lock));
    if (stockBefore === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
    emit('read', stockBefore);
    if (stockBefore <= 0) throw new ProblemError('OUT_OF_STOCK', `Sku ${sku} is sold out.`);

    await business();

    // Only a lock beyond stage 8 says that it was lost, and only to a holder that is awake.
    lock.lost?.throwIfAborted();

    // Read and write are two commands on purpose: this gap is what the lock protects.
    const left = await stock.write(stockBefore - 1, lock.fencingToken);
    // Only a store that decides by itself says what it has left.
    const remaining = left ?? stockBefore - 1;
    // A sale that only this Redis knows of is not answered as sold: a failover would forget it.
    await lock.confirm?.();
    emit('wrote', remaining);
    return { stockBefore: remaining + 1, remaining };
  });
}

/** Returns units to the stock in a sale's critical section: read, then write. */
export function putBack({ sku, units, lock, stock, signal, emit }: Omit<SaleParts, 'business'> & { units: number }) {
  return underLock({ lock, signal, emit }, async () => {
    const stockBefore = await stock.read(tokenOfRead(lock));
    if (stockBefore === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
    lock.lost?.throwIfAborted();
    await stock.write(stockBefore + units, lock.fencingToken);
    await lock.confirm?.();
  });
}

/** Reads the stock under a read lock: meanwhile no sale is between its read and its write. */
export function readShared({ lock, stock, signal, emit }: Omit<SaleParts, 'sku' | 'business'>) {
  return underLock({ lock, signal, emit }, () => stock.read(tokenOfRead(lock)));
}

/** If only writes are fenced, an older write can land between this read and its own write. Only `fenced-writes` does this. */
const tokenOfRead = (lock: Lock) => (lock.hasUnfencedReads ? undefined : lock.fencingToken);

export async function underLock<T>(
  { lock, signal, emit }: Pick<SaleParts, 'signal' | 'emit'> & { lock: Pick<Lock, 'acquire' | 'release'> },
  work: () => Promise<T>,
) {
  await lock.acquire(signal);
  emit('entered');
  try {
    // The wait may have ended while Redis was granting the lock.
    signal.throwIfAborted();
    return await work();
  } finally {
    emit('left');
    await lock.release();
    emit('released');
  }
}

/** The sale without a lock: the store takes the unit in its own way. */
export async function sellAtomically(takeOne: TakeOne, options: SaleOptions, emit: (step: SaleStep) => void) {
  try {
    const stockBefore = await takeOne(options);
    if (stockBefore === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${options.sku}.`);
    if (stockBefore <= 0) throw new ProblemError('OUT_OF_STOCK', `Sku ${options.sku} is sold out.`);
    return { stockBefore, remaining: stockBefore - 1 };
  } finally {
    emit('left');
  }
}
