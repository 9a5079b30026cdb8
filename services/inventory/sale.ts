import type { Lock } from '../../locks/lock.ts';
import { ProblemError } from './problem.ts';
import type { Store } from './store.ts';

/** The steps of a sale, told as they happen. `writing` comes before the write is sent, `wrote` after its answer. */
export type SaleStep = 'entered' | 'read' | 'writing' | 'wrote' | 'left' | 'released';

export interface SaleParts {
  sku: string;
  lock: Lock;
  store: Pick<Store, 'readStock' | 'writeStock'>;
  /** Aborts when the wait for the lock must end; its reason is the error to end with. */
  wait: AbortSignal;
  /** What happens between read and write: nothing, unless a drill scripts it. */
  business: () => Promise<void>;
  tell: (step: SaleStep, stock?: number) => void;
}

/** The critical section, once for all locks: resolves with the stock that was read and the stock that was written. */
export async function sellOne({ sku, lock, store, wait, business, tell }: SaleParts) {
  await lock.acquire(wait);
  tell('entered');
  try {
    // The wait may have ended while Redis was granting the lock.
    wait.throwIfAborted();

    const stockBefore = await store.readStock(sku);
    if (stockBefore === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
    tell('read', stockBefore);
    if (stockBefore <= 0) throw new ProblemError('OUT_OF_STOCK', `Sku ${sku} is sold out.`);

    await business();

    // Read and write are two commands on purpose: this gap is what the lock protects.
    const remaining = stockBefore - 1;
    tell('writing');
    await store.writeStock(sku, remaining);
    tell('wrote', remaining);
    return { stockBefore, remaining };
  } finally {
    tell('left');
    await lock.release();
    tell('released');
  }
}
