// `judge.json`: what is known of a service that is judged by its wire, as a schema. Others read it.

import { z } from 'zod';

/** A command that passed between a copy of a service and its Redis, in milliseconds since the drill began. */
export const exchangeSchema = z.object({
  ms: z.number().min(0),
  node: z.string(),
  command: z.string(),
  answer: z.string(),
});

/** What was said or learned of a service. */
export const serviceSchema = z.object({
  /** What starts a copy; absent of one that ran already. */
  command: z.string().optional(),
  /** How a unit is asked for, such as `POST /buy`. */
  sale: z.string(),
  /** Where the stock is: its key, and the field of a hash. */
  stock: z.string(),
  /** How it is read and written, by the commands; without `read` one command does both. */
  read: z.string().optional(),
  write: z.string(),
  /** What the answers are known by: status and text, with # for numbers and ~ for ids. `busy`: to who does not get the lock, and is not kept waiting. */
  answers: z.object({ sold: z.string(), soldOut: z.string().optional(), busy: z.string().optional() }),
  lock: z.object({
    /** Those that are in Redis while one is inside. */
    keys: z.array(z.string()),
    /** In milliseconds: 0 where there is none, null where it has no end. */
    leaseMs: z.number().min(0).nullable(),
    /** Commands of it come from a copy while its sale is inside. */
    isRenewed: z.boolean(),
    /** The commands by which it is given up. */
    release: z.array(z.string()),
  }),
  /** LEASE_MS in the environment is its lease. */
  obeysLease: z.boolean(),
  /** All sales of a copy share one connection to Redis. */
  isShared: z.boolean(),
  /** How long its client waits for an answer of Redis, in milliseconds: null where it waited for as long as it was tried. */
  patienceMs: z.number().min(0).nullable(),
  /** How long a sale takes that nobody keeps waiting, in milliseconds. */
  saleMs: z.number().min(0),
  /** The commands of one sale, as they are shown. */
  oneSale: z.array(z.string()),
});

export type ExchangeTold = z.infer<typeof exchangeSchema>;
export type ServiceTold = z.infer<typeof serviceSchema>;
