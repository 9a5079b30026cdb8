import { z } from 'zod';

/** What may name a thing that is sold: it becomes part of a Redis key. */
export const skuSchema = z
  .string('must be a text')
  .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, dashes or underscores');
