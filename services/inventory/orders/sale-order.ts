import { isMysqlSilent } from '../mysql.ts';
import { ProblemError } from '../problem.ts';
import { isStoreUnavailable } from '../store.ts';
import type { NewOrder } from './order.ts';
import type { OrderStore } from './order-store.ts';
import { type Ask, CommitUnansweredError } from './transaction.ts';

export interface SaleOrderParts {
  orders: OrderStore;
  order: NewOrder;
  /** Puts the units back into the stock. Rejects when they may not be back. */
  giveBack: () => Promise<void>;
}

/**
 * The order of one sale. The stock and the order are in two stores, and the node may die between them. So the sale first
 * writes down what it intends to take, takes it, and then writes the order in the place of the intent: an intent that is left
 * tells of units that may be in neither store. `npm run reconcile` settles it.
 */
export function openSaleOrder({ orders, order, giveBack }: SaleOrderParts) {
  const it = `Order ${order.id}`;
  let hasIntent = false;

  return {
    id: order.id,
    /** Before anything is taken. Rejects with AbortError when `signal` aborts first. */
    async intend(signal: AbortSignal) {
      await orders.intend(order, signal);
      hasIntent = true;
    },
    /**
     * After the units were taken. Rejects with ProblemError when there is no order, or may be none: definite when there is
     * none, the units are back in stock, and nobody else may have sold with the same key. While the units may not be back the
     * intent is there as the evidence.
     */
    async write(keep?: (ask: Ask) => Promise<void>) {
      const isWritten = await orders.place(order, keep).catch(async (cause) => {
        if (cause instanceof CommitUnansweredError) {
          throw new ProblemError('ORDER_FAILED', `${it} may be written: MySQL did not answer.`, {
            definite: false,
            cause,
          });
        }
        const isBack = await giveBack().then(
          () => true,
          () => false,
        );
        if (isBack) await forget(cause);
        const unit = isBack ? 'the unit is back in stock' : 'the unit may not be back in stock';
        const isForeseen = cause instanceof ProblemError || isStoreUnavailable(cause);
        const code = isForeseen ? 'ORDER_FAILED' : 'INTERNAL_ERROR';
        // Whoever has taken the key over may have sold with it.
        const definite = isBack && !(cause instanceof ProblemError && !cause.problem.definite);
        throw new ProblemError(code, `${it} could not be written; ${unit}.`, { definite, cause });
      });
      if (isWritten) return;
      const detail = `${it} is not written: its intent was settled meanwhile, and the unit may be back in stock.`;
      throw new ProblemError('ORDER_FAILED', detail, { definite: false });
    },
    forget,
  };

  /** When nothing is taken, for certain. An intent that can't be deleted now explains no missing unit. */
  async function forget(why: unknown) {
    if (!hasIntent) return;
    hasIntent = false;
    const forgotten = orders.forget(order.id).catch(() => {});
    // Whoever is to be answered does not wait once more for a MySQL that does not answer.
    if (!isMysqlSilent(why)) await forgotten;
  }
}
