import { z } from 'zod';

/** What may name a thing that is sold: it becomes part of a Redis key. */
export const skuSchema = z
  .string('must be a text')
  .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, dashes or underscores');

/** What is sold together: several skus, each once. */
export const basketSchema = z
  .array(skuSchema, 'must be a list of skus')
  .min(2, 'must be 2 skus or more')
  .max(8, 'must be 8 skus or fewer')
  .refine((skus) => new Set(skus).size === skus.length, 'must not have a sku twice');

/** What a sale is asked for, in the query or the body. */
export const saleSchema = z.strictObject({ sku: skuSchema.default('001') });
/** What the sale of a basket is asked for, in the body. */
export const basketSaleSchema = z.strictObject({ skus: basketSchema });
