// The stream of incoming payments, and the consumer group of all nodes: the commands, one for each step,
// and what a message says.

import { z } from 'zod';
import type { RedisClient } from '../../../../locks/lock.ts';
import { orderIdSchema } from '../order.ts';

// The braces are a hash tag: both keys live in one Cluster slot.
export const paymentsKey = '{payments}:stream';
export const refusedKey = '{payments}:refused';
/** Redis delivers each message to one consumer of the group, and keeps it pending until it is acknowledged. */
export const paymentsGroup = 'orders';

/** How many pending messages are checked to find an abandoned one. */
const MOST_PENDING = 100;
/** About how many dead-lettered messages are kept. The oldest are dropped first. */
const MOST_REFUSED = 10_000;

export interface Message {
  id: string;
  /** How often it was delivered, this delivery included. */
  deliveries: number;
  fields: Record<string, string>;
}

/** The longest key of a payment, in characters: with its prefix it must not exceed the limit for request keys. */
const MAX_KEY_LENGTH = 200;

/** The fields of a message, as the payment provider writes them. Others are ignored. The same key means the same money. */
export const paymentSchema = z.object({
  order: orderIdSchema,
  amount: z
    .string('must be a string')
    .regex(/^[1-9]\d{0,14}$/, 'must be cents, a whole number from 1')
    .transform(Number),
  key: z
    .string('must be a string')
    .regex(/^[ -~]+$/, 'must be ASCII characters')
    .max(MAX_KEY_LENGTH, `must not be longer than ${MAX_KEY_LENGTH}`),
});

type Entry = [id: string, fields: string[] | null];

/** The stream, for one consumer of the group. While Redis is unavailable, each call rejects. */
export function openStream(redis: RedisClient, consumer: string) {
  /** Acknowledges the message: it is not delivered again. */
  const acknowledge = async ({ id }: Pick<Message, 'id'>) => void (await redis.xack(paymentsKey, paymentsGroup, id));

  return {
    /** Creates the group, which starts with the oldest message. Rejects if the stream does not exist. */
    makeGroup: () => redis.xgroup('CREATE', paymentsKey, paymentsGroup, '0'),
    /** Waits for a new message. Resolves with undefined if none arrives in time. */
    async readNew(waitMs: number): Promise<Message | undefined> {
      const block = ['COUNT', 1, 'BLOCK', waitMs] as const;
      const read = await redis.xreadgroup('GROUP', paymentsGroup, consumer, ...block, 'STREAMS', paymentsKey, '>');
      const [[, entries] = []] = (read ?? []) as [key: string, entries: Entry[]][];
      return asMessage(entries?.[0]);
    },
    /**
     * Claims a message that was delivered to a consumer, this one or another, and has been pending for that long.
     * Resolves with undefined when there is none. Of several that try at once one gets it: it is not idle any more.
     */
    async claimIdle(minIdleMs: number): Promise<Message | undefined> {
      // XAUTOCLAIM would do both in one command. It does not say how often the message was delivered.
      const pending = await redis.xpending(paymentsKey, paymentsGroup, '-', '+', MOST_PENDING);
      for (const [id, , idleMs, deliveries] of pending as [string, string, number, number][]) {
        if (idleMs < minIdleMs) continue;
        // By its name: the types of ioredis have too many forms of XCLAIM to choose from.
        const claim = [paymentsKey, paymentsGroup, consumer, minIdleMs, id];
        const [entry] = (await redis.call('XCLAIM', claim)) as (Entry | null)[];
        if (entry) return asMessage(entry, deliveries + 1);
        // It is pending, and no longer in the stream: Redis 7 forgets it by itself.
        if (entry === null) await acknowledge({ id });
      }
      return undefined;
    },
    acknowledge,
    /** Dead-letters a message that can't be booked, and acknowledges it. */
    async putAside({ id, fields }: Message, why: string): Promise<void> {
      const copy = Object.entries({ ...fields, id, why }).flat();
      await redis.xadd(refusedKey, 'MAXLEN', '~', MOST_REFUSED, '*', ...copy);
      await acknowledge({ id });
    },
  };
}

export const isWithoutGroup = (error: unknown) =>
  error instanceof Error && /NOGROUP|stream key no longer exists/.test(error.message);

function asMessage(entry: Entry | undefined, deliveries = 1): Message | undefined {
  if (entry === undefined) return undefined;
  const [id, flat] = entry;
  const fields: Record<string, string> = {};
  for (let at = 0; flat?.[at] !== undefined; at += 2) fields[flat[at] as string] = flat[at + 1] ?? '';
  return { id, deliveries, fields };
}
