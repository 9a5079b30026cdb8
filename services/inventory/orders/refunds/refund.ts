import type { Ask } from '../../servers/transaction.ts';
import type { Order } from '../order.ts';

/** What a guard of the refunds works with: one order, and the statements that it needs. */
export interface RefundSteps {
  id: string;
  isPaid(): Promise<boolean>;
  /** Sends statements that are each a transaction. */
  alone<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  together<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Sets the order REFUNDED and gives the money back, also when that was done before. Called in a transaction. */
  refund(ask: Ask): Promise<Order | undefined>;
  /** The same for an order that is PAID; resolves with undefined when it is not. */
  refundIfPaid(ask: Ask): Promise<Order | undefined>;
}

/** Gives the money of an order back. Resolves with undefined when it refuses to. */
export type Refund = (steps: RefundSteps) => Promise<Order | undefined>;
