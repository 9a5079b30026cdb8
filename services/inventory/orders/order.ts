import { z } from 'zod';
import { ProblemError } from '../problem.ts';

/** UNPAID → PAID → REFUNDED, or UNPAID → CLOSED. There is no other step. */
export const orderStatuses = ['UNPAID', 'PAID', 'REFUNDED', 'CLOSED'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** Which status a customer's step leads from. The clean-up takes the other one, from UNPAID to CLOSED. */
export const statusBefore = { PAID: 'UNPAID', REFUNDED: 'PAID' } as const satisfies Partial<
  Record<OrderStatus, OrderStatus>
>;

/** An order as the client gets it. Times are ISO 8601 in UTC, by the clock of MySQL. */
export interface Order {
  id: string;
  sku: string;
  quantity: number;
  /** In cents. */
  amount: number;
  status: OrderStatus;
  /** The sale that made it: `node` and `saleId` together name it, also when the node starts again: it begins with the instance. */
  node: string;
  saleId: string;
  lock: string;
  createdAt: string;
  dueAt: string;
  /** When the status last changed. */
  changedAt: string;
  /** When the units of a closed order were put back into the stock; null until then. */
  restoredAt: string | null;
}

/** What a sale knows of its order before it has taken anything. */
export type NewOrder = Pick<Order, 'id' | 'sku' | 'quantity' | 'node' | 'saleId' | 'lock'>;

export const orderIdSchema = z
  .string('must be a text')
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be the id of an order, which is a UUID')
  .transform((id) => id.toLowerCase());

const limitAllowed = 'must be a whole number from 1 to 100';

/** Which orders to list, as the query says it. */
export const listSchema = z.strictObject({
  status: z.enum(orderStatuses, `must be one of ${orderStatuses.join(', ')}`).optional(),
  limit: z
    .string(limitAllowed)
    .regex(/^\d{1,3}$/, limitAllowed)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= 100, limitAllowed)
    .default(20),
  after: orderIdSchema.optional(),
});

export type ListQuery = z.output<typeof listSchema>;

export const noSuchOrder = (id: string) => new ProblemError('NOT_FOUND', `There is no order ${id}.`);

/** The step is not allowed from where the order is. */
export const refuseStep = ({ id, status }: Order, to: OrderStatus) =>
  new ProblemError('ORDER_STATE', `Order ${id} is ${status}, so it can't become ${to}.`);
