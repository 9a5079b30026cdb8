// The schema of `judge.json`: what is known about a service that is judged by its traffic.

import { z } from 'zod';

/** A command that passed between a copy of a service and its Redis, in milliseconds since the drill began. */
export const exchangeSchema = z
  .object({
    ms: z.number().min(0),
    node: z.string(),
    command: z.string(),
    answer: z.string(),
  })
  .meta({ id: 'Exchange' });

/** What was given or learned about a service. */
export const serviceSchema = z
  .object({
    command: z.string().optional().describe('The command that starts a copy. Absent with --url.'),
    sale: z.string().describe('The request that buys a unit, such as `POST /buy`.'),
    stock: z.string().describe('Its key and the field of a hash, or its column and row in MySQL.'),
    read: z.string().optional().describe('The command that reads the stock. Absent when one command reads and writes.'),
    write: z.string().describe('The command that writes the stock.'),
    answers: z
      .object({ sold: z.string(), soldOut: z.string().optional(), busy: z.string().optional() })
      .describe(
        'Status and text of each response, with # for numbers and ~ for ids. `busy`: the response of a shop whose buyers do not wait.',
      ),
    lock: z.object({
      keys: z.array(z.string()).describe('The keys of the lock.'),
      leaseMs: z.number().min(0).nullable().describe('0 without a lock, null for a lease without end.'),
      isRenewed: z.boolean().describe('A copy renews the lease during a sale.'),
      release: z.array(z.string()).describe('The commands that release it.'),
    }),
    obeysLease: z.boolean().describe('The lease is what LEASE_MS says.'),
    isShared: z.boolean().describe('All sales of a copy share one Redis connection.'),
    patienceMs: z
      .number()
      .min(0)
      .nullable()
      .describe('How long its client waits for Redis; null when no limit was seen.'),
    saleMs: z.number().min(0).describe('Duration of a sale that does not have to wait.'),
    oneSale: z.array(z.string()).describe('The commands of one sale.'),
  })
  .meta({ id: 'Service' });

export type ExchangeTold = z.infer<typeof exchangeSchema>;
export type ServiceTold = z.infer<typeof serviceSchema>;
