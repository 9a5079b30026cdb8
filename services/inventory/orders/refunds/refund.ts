import type { Ask } from '../../servers/transaction.ts';
import type { Order } from '../order.ts';

/** What a refund works with: one order, and the statements that it needs. */
export interface RefundSteps {
  id: string;
  isPaid(): Promise<boolean>;
  /** Sends statements, each in its own transaction. */
  alone<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  together<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Sets the order to REFUNDED and returns the money, even if that was done before. Call it in a transaction. */
  refund(ask: Ask): Promise<Order | undefined>;
  /** The same, but only for a PAID order; resolves with undefined if it is not. */
  refundIfPaid(ask: Ask): Promise<Order | undefined>;
}

/** Refunds an order. Resolves with undefined if it refuses to. */
export type Refund = (steps: RefundSteps) => Promise<Order | undefined>;
