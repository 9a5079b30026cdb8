// What a lock promises beyond the contract: the export `promises` of its module.

import { z } from 'zod';

/**
 * Whatever is absent is not promised.
 *
 * - `reentry`: the holder may acquire its own lock again, and holds until it has released as often.
 * - `renewal`: the lock is held for as long as its process lives, however long a lease is.
 * - `fairness`: `order` lets waiters in in the order in which they asked, over all nodes; `bounded` lets everybody in within a lease,
 *   however many others want the lock. `true` is `order`.
 * - `fencing`: there is a fencing token.
 * - `permits`: it is a semaphore, and lets in as many at once as the option `permits` says.
 * - `releaseRetry`: a `release()` that failed without an answer may be called again, and then frees the lock.
 * - `masters`: the lock is in the several Redis servers of `masters`, which vote.
 */
export const promisesSchema = z
  .strictObject({
    reentry: z.boolean(),
    renewal: z.boolean(),
    fairness: z.union([
      z.enum(['order', 'bounded']),
      z.boolean().transform((is) => (is ? ('order' as const) : undefined)),
    ]),
    fencing: z.boolean(),
    releaseRetry: z.boolean(),
    masters: z.boolean(),
    permits: z.boolean(),
  })
  .partial();

export type Promises = z.infer<typeof promisesSchema>;

/** Parses the export. Throws an error whose message is a clause when it is invalid. */
export function readPromises(exported: unknown): Promises {
  const read = promisesSchema.safeParse(exported ?? {});
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.length ? `its promises.${issue.path.join('.')}` : 'its promises';
  throw new Error(`${where} can't be read: ${issue?.message}`);
}

/** The drills in which a lock stays held because its holder renews it and never releases it. */
export const WHILE_RENEWED = ['hung-holder', 'forgotten-release'];
