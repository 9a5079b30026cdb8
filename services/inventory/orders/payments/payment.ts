import { z } from 'zod';
import { orderIdSchema } from '../order.ts';

/** The longest key of a payment, in characters: with its prefix it must fit among those of the requests. */
const MAX_KEY_LENGTH = 200;

/** The fields of a message, as the payment provider writes them. Others are ignored. */
export const paymentSchema = z.object({
  order: orderIdSchema,
  amount: z
    .string('must be a text')
    .regex(/^[1-9]\d{0,14}$/, 'must be cents, a whole number from 1')
    .transform(Number),
  key: z
    .string('must be a text')
    .regex(/^[ -~]+$/, 'must be signs of ASCII')
    .max(MAX_KEY_LENGTH, `must not be longer than ${MAX_KEY_LENGTH}`),
});

/** Money that has arrived for an order. `key` names the payment: whatever comes with the same key is the same money. */
export type Payment = z.output<typeof paymentSchema>;
