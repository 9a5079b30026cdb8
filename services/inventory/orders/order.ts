import { z } from 'zod';

/** UNPAID → PAID → REFUNDED, or UNPAID → CLOSED. There are no other steps. */
export const orderStatuses = ['UNPAID', 'PAID', 'REFUNDED', 'CLOSED'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** The status from which a customer's step leads. The cleanup job takes the remaining step, from UNPAID to CLOSED. */
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
    saleId: z.string().describe("8 characters of the sale's owner token, then the id of the sale."),
    lock: z.string(),
    createdAt: time,
    dueAt: time.describe('ORDER_TTL_MS after createdAt. The cleanup job closes an order that is still unpaid then.'),
    changedAt: time.describe('The last change of status.'),
    restoredAt: time.nullable().describe('When the units of a closed order were returned to stock.'),
  })
  .meta({ id: 'Order', description: "Times are by MySQL's clock, in UTC." });

export type Order = z.output<typeof orderSchema>;

/** What a sale knows about its order before it takes anything. */
export interface NewOrder extends Pick<Order, 'id' | 'sku' | 'quantity' | 'node' | 'saleId' | 'lock'> {
  /** How long the sale lives at most, in milliseconds: after that it returns no unit. */
  lifeMs: number;
}

export const orderIdSchema = z
  .string('must be a string')
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be the id of an order, which is a UUID')
  .transform((id) => id.toLowerCase());

const limitAllowed = 'must be a whole number from 1 to 100';

export const listSchema = z.strictObject({
  status: z
    .enum(orderStatuses, `must be one of ${orderStatuses.join(', ')}`)
    .optional()
    .describe('Lists only orders with this status.'),
  limit: z
    .string(limitAllowed)
    .regex(/^([1-9]\d?|100)$/, limitAllowed)
    .transform(Number)
    .default(20)
    .describe('Orders per page, 1 to 100.'),
  after: orderIdSchema.optional().describe('The last order of the previous page.'),
});

export type ListQuery = z.output<typeof listSchema>;
