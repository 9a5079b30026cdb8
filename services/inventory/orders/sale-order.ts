import { randomUUID } from 'node:crypto';
import { isMysqlSilent } from '../../../locks/drivers/mysql-errors.ts';
import { ProblemError } from '../problem.ts';
import type { SaleService } from '../sale/sale-service.ts';
import type { SaleOrder } from '../sale/sell.ts';
import type { SaleFacts } from '../sale/sku.ts';
import { isStoreUnavailable } from '../servers/away-server.ts';
import { isInDoubt } from '../servers/transaction.ts';
import { saleLifeMs, takingLimitMs } from '../settings/limits.ts';
import type { Keep } from './idempotency/once.ts';
import type { OrderStore } from './order-store.ts';

const INSTANCE_SIGNS = 8;

type Count = (outcome: 'placed' | 'failed' | 'inDoubt') => void;

/**
 * The stock and the order are in two stores, and the node may die between the two writes. So a sale writes
 * what it intends to take, takes it, and writes the order in the place of the intent. One that
 * is left stands for units that may be in neither store: `npm run reconcile` settles it.
 */
export function openSaleOrder(
  { sales }: { sales: Pick<SaleService, 'giveBack' | 'waitTimeoutMs'> },
  orders: OrderStore,
  count: Count,
  keep?: Keep,
): SaleOrder {
  const id = randomUUID();
  // As long as this sale waits, whatever the node was started with. It does not change while a sale is in flight.
  const waitTimeoutMs = sales.waitTimeoutMs();
  const giveBackUntil = performance.now() + takingLimitMs(waitTimeoutMs);
  let hasIntent = false;

  return {
    async intend(sale, signal) {
      await orders.intend(orderOf(sale), signal);
      hasIntent = true;
    },
    async place(sold) {
      sold.orderId = id;
      const failure = await orders
        .place(orderOf(sold), keep && ((ask) => keep(ask, sold)))
        .then(unlessSettled, (cause) => whyFailed(cause, sold.sku));
      count(failure === undefined ? 'placed' : failure.problem.definite ? 'failed' : 'inDoubt');
      if (failure) throw failure;
    },
    forget,
  };

  function orderOf({ sku, node, lock, holder, saleId }: SaleFacts & { sku: string }) {
    // A node that starts again counts its sales from the beginning, and orders stay: its instance tells them apart.
    const ofInstance = `${holder.slice(0, INSTANCE_SIGNS)}:${saleId}`;
    return { id, sku, quantity: 1, node, lock, saleId: ofInstance, lifeMs: saleLifeMs(waitTimeoutMs) };
  }

  function unlessSettled(isWritten: boolean) {
    if (isWritten) return undefined;
    const detail = `Order ${id} was not written: its intent was settled meanwhile, and the unit may be back in stock.`;
    return new ProblemError('ORDER_FAILED', detail, { definite: false });
  }

  /**
   *
   * Returns the unit, unless the order may have been written. Definite: there is no order, the unit is back, and no other
   * request can have sold with the key.
   *
   */
  async function whyFailed(cause: unknown, sku: string): Promise<ProblemError> {
    if (isInDoubt(cause)) {
      const detail = `Order ${id} may have been written: MySQL did not reply.`;
      return new ProblemError('ORDER_FAILED', detail, { definite: false, cause });
    }
    // One that comes too late leaves it to `npm run reconcile`, which may have put it back.
    let isBack = performance.now() <= giveBackUntil;
    if (isBack) await sales.giveBack(sku, 1).catch(() => (isBack = false));
    if (isBack) await forget(cause);
    const unit = isBack ? 'the unit is back in stock' : 'the unit may not be back in stock';
    const isForeseen = cause instanceof ProblemError || isStoreUnavailable(cause);
    const code = isForeseen ? 'ORDER_FAILED' : 'INTERNAL_ERROR';
    // The request that has taken the key over may have sold with it.
    const definite = isBack && !(cause instanceof ProblemError && !cause.problem.definite);
    return new ProblemError(code, `Order ${id} could not be written; ${unit}.`, { definite, cause });
  }

  /** Called when certainly nothing was taken. An intent that can't be deleted now explains no missing unit. */
  async function forget(why: unknown) {
    if (!hasIntent) return;
    hasIntent = false;
    const forgotten = orders.forget(id).catch(() => {});
    // The client does not wait once more for a MySQL that does not answer.
    if (!isMysqlSilent(why)) await forgotten;
  }
}
