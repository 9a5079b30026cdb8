import { z } from 'zod';
import { LONGEST_WAIT_TIMEOUT_MS } from '../settings/limits.ts';

/** A sku: it becomes part of a Redis key. */
export const skuSchema = z
  .string('must be a string')
  .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, dashes or underscores');

const basketSchema = z
  .array(skuSchema, 'must be a list of skus')
  .min(2, 'must be 2 skus or more')
  .max(8, 'must be 8 skus or fewer')
  .refine((skus) => new Set(skus).size === skus.length, 'must not contain a sku twice');

/** A time in milliseconds: a JSON number, or digits in a query. */
const milliseconds = (min: number, max: number) => {
  const allowed = `must be a whole number from ${min} to ${max} (milliseconds)`;
  const digits = z.string().regex(/^\d{1,7}$/, allowed);
  return z
    .union([z.int(), digits], allowed)
    .refine((given) => Number(given) >= min && Number(given) <= max, allowed)
    .transform(Number)
    .optional();
};
const limits = {
  waitMs: milliseconds(0, LONGEST_WAIT_TIMEOUT_MS).describe(
    'Longest wait for the lock, in milliseconds, up to WAIT_TIMEOUT_MS; 0 tries once.',
  ),
  leaseMs: milliseconds(30, 3_600_000).describe(
    'Only under blocking: a fixed lease in milliseconds, which is not renewed.',
  ),
};

const sku = skuSchema.default('001').describe('1 to 32 letters, digits, dashes or underscores.');
export const lookSchema = z.strictObject({ sku });
/** The parameters of a sale, in the query or the body. */
export const saleSchema = lookSchema.extend(limits);
export const basketSaleSchema = z.strictObject({ skus: basketSchema, ...limits });
/** The buyer: it becomes part of a Redis key. */
export const userSchema = z
  .string('Send the header X-User-Id, because LOCK_SCOPE is user.')
  .regex(/^[A-Za-z0-9._@-]{1,32}$/, 'X-User-Id must be 1 to 32 letters, digits, dots, dashes, underscores or @.');

/** What one sale asks of its lock. */
export interface Asked {
  waitMs?: number | undefined;
  leaseMs?: number | undefined;
  /** The buyer, if the lock is for a user. */
  user?: string | undefined;
}

const units = z.int();

const ofSale = {
  outcome: z.literal('sold'),
  saleId: z.string().describe('A counter on each node, from its start.'),
  node: z.string().describe('The node that sold.'),
  port: z.int().describe('The port of that node.'),
  lock: z.string().describe('The lock of the sale, such as 8-auto-renew.'),
  holder: z.string().describe('The owner token: unique among all sales.'),
};
const itemSchema = z.object({
  sku: z.string().describe('What was sold.'),
  stockBefore: units.describe('The stock that this sale read.'),
  remaining: units.describe('The stock that it wrote.'),
});
const ofBucket = 'Under buckets: the bucket, from 0, that stockBefore and remaining refer to.';

export const soldSchema = z
  .object({
    ...ofSale,
    ...itemSchema.shape,
    bucket: units.optional().describe(ofBucket),
    orderId: z.string().optional().describe('Only with orders.'),
  })
  .meta({ id: 'Sold' });
export const basketSoldSchema = z
  .object({ ...ofSale, skus: z.array(itemSchema).describe('In the order of the request.') })
  .meta({ id: 'BasketSold' });

/** The response of `GET /stock`, and of `GET /inventory` in the public API. */
export const remainingSchema = z.object({ sku: z.string(), remaining: z.int() });

export type SoldItem = z.output<typeof itemSchema>;
export type Sold = z.output<typeof soldSchema>;
export type BasketSold = z.output<typeof basketSoldSchema>;
/** What is known about a sale before it has taken anything. */
export type SaleFacts = Omit<BasketSold, 'skus' | 'outcome'>;
