import { z } from 'zod';

/** UNPAID → PAID → REFUNDED, or UNPAID → CLOSED. There is no other step. */
export const orderStatuses = ['UNPAID', 'PAID', 'REFUNDED', 'CLOSED'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** Which status a customer's step leads from. The clean-up takes the other one, from UNPAID to CLOSED. */
export const statusBefore = { PAID: 'UNPAID', REFUNDED: 'PAID' } as const satisfies Partial<
  Record<OrderStatus, OrderStatus>
>;

const time = z.iso.datetime();

export const orderSchema = z
  .object({
    id: z.string().describe('A UUID.'),
    sku: z.string(),
    quantity: z.int(),
    amount: z.int().describe('In cents: quantity × UNIT_PRICE.'),
    status: z.enum(orderStatuses),
    node: z.string(),
    saleId: z.string().describe('The id of the sale, after 8 characters of its owner token.'),
    lock: z.string(),
    createdAt: time,
    dueAt: time.describe('ORDER_TTL_MS after createdAt. The clean-up closes an order that is unpaid by then.'),
    changedAt: time.describe('The last change of status.'),
    restoredAt: time.nullable().describe('When the units of a closed order were back in stock.'),
  })
  .meta({ id: 'Order', description: "Times are those of MySQL's clock, in UTC." });

export type Order = z.output<typeof orderSchema>;

/** What a sale knows of its order before it has taken anything. */
export interface NewOrder extends Pick<Order, 'id' | 'sku' | 'quantity' | 'node' | 'saleId' | 'lock'> {
  /** How long the sale lives at most, in milliseconds: it puts no unit back after that. */
  lifeMs: number;
}

export const orderIdSchema = z
  .string('must be a text')
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be the id of an order, which is a UUID')
  .transform((id) => id.toLowerCase());

const limitAllowed = 'must be a whole number from 1 to 100';

export const listSchema = z.strictObject({
  status: z
    .enum(orderStatuses, `must be one of ${orderStatuses.join(', ')}`)
    .optional()
    .describe('Lists the orders in this status.'),
  limit: z
    .string(limitAllowed)
    .regex(/^([1-9]\d?|100)$/, limitAllowed)
    .transform(Number)
    .default(20)
    .describe('Orders on a page, 1 to 100.'),
  after: orderIdSchema.optional().describe('The order before the first on this page.'),
});

export type ListQuery = z.output<typeof listSchema>;
