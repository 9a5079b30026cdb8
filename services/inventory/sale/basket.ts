// The sale of a basket: one unit of each of several skus, or nothing, under the locks of all of them.

import type { FencedStock, MultiLock } from '../../../locks/lock.ts';
import { ProblemError } from '../problem.ts';
import { wasNotDone } from '../servers/store.ts';
import type { Progress } from './holder.ts';
import { type SaleParts, underLock } from './sale.ts';
import type { SoldItem } from './sku.ts';

export interface BasketParts extends Pick<SaleParts, 'signal' | 'business' | 'emit'> {
  /** No sku appears twice. */
  skus: string[];
  lock: MultiLock;
  tokenOf: (sku: string) => string | undefined;
  stockOf: (sku: string) => FencedStock;
  progress: Progress;
}

/** The critical section of several skus: all are read, then all are written. Resolves with the items in basket order. */
export function sellAll(parts: BasketParts): Promise<SoldItem[]> {
  const { skus, lock, tokenOf, stockOf, business, emit } = parts;
  return underLock(parts, async () => {
    const stocks = await Promise.all(skus.map((sku) => stockOf(sku).read(tokenOf(sku))));
    const items = skus.map((sku, at) => itemOf(sku, stocks[at]));
    const soldOut = items.find(({ stockBefore }) => stockBefore <= 0);
    // There is no one stock to tell of, unless there is nothing left to sell.
    emit('read', soldOut && 0);
    if (soldOut) throw new ProblemError('OUT_OF_STOCK', `Sku ${soldOut.sku} is sold out: nothing was sold.`);

    await business();

    lock.lost.throwIfAborted();
    await writeAll(items, parts);
    emit('wrote');
    return items;
  });
}

function itemOf(sku: string, stockBefore: number | undefined): SoldItem {
  if (stockBefore === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
  return { sku, stockBefore, remaining: stockBefore - 1 };
}

/**
 *
 * Writes one sku after the other: they may be on different servers, so no script can write them in one step. If a write was
 * certainly refused, the earlier ones are reverted while the locks are held.
 *
 */
async function writeAll(items: SoldItem[], { stockOf, tokenOf, progress }: BasketParts) {
  const written: SoldItem[] = [];
  for (const item of items) {
    try {
      await stockOf(item.sku).write(item.remaining, tokenOf(item.sku));
    } catch (error) {
      const isRefused = error instanceof ProblemError || wasNotDone(error);
      const inDoubt = isRefused ? await putBackOrName(written) : [...written, item];
      if (inDoubt.length === 0) progress.write = 'not sent';
      // A first write alone is in doubt as that of any sale is.
      else if (written.length > 0) progress.refusal = halfSold(items, inDoubt, error);
      throw error;
    }
    written.push(item);
  }

  /** Resolves with the items that could not be put back. */
  async function putBackOrName(written: SoldItem[]): Promise<SoldItem[]> {
    const ends = await Promise.allSettled(
      written.map(({ sku, stockBefore }) => stockOf(sku).write(stockBefore, tokenOf(sku))),
    );
    return written.filter((_, at) => ends[at]?.status === 'rejected');
  }
}

function halfSold(items: SoldItem[], inDoubt: SoldItem[], cause: unknown) {
  const named = (some: SoldItem[]) => some.map(({ sku }) => sku).join(', ');
  const others = items.filter((item) => !inDoubt.includes(item));
  const rest = others.length > 0 ? ` Certainly not taken: ${named(others)}.` : '';
  const detail = `Taken, or in doubt: ${named(inDoubt)}.${rest}`;
  return new ProblemError('HALF_SOLD', detail, { definite: false, cause });
}
