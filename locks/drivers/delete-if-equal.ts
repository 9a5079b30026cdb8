// Deletes a key if it has a given value, with whichever command the server has for that.

import type { RedisClient } from '../lock.ts';

/** The commands for it, each with the first server version that has it. A server may have one of them, both, or neither. */
export const deletingCommands = { DELIFEQ: 'Valkey 9', DELEX: 'Redis 8.4' };

type Delete = (redis: RedisClient, key: string, value: string) => Promise<unknown>;

const byDelifeq: Delete = (redis, key, value) => redis.call('DELIFEQ', key, value);
const byDelex: Delete = (redis, key, value) => redis.call('DELEX', key, 'IFEQ', value);

const known = new WeakMap<RedisClient, Delete>();

/**
 * Resolves with 1 if the key was deleted, with 0 if it does not exist or has
 * another value. Rejects if the server does not reply, or has neither command.
 */
export async function deleteIfEqual(redis: RedisClient, key: string, value: string): Promise<number> {
  const first = known.get(redis) ?? byDelifeq;
  const other = first === byDelifeq ? byDelex : byDelifeq;
  try {
    return Number(await first(redis, key, value));
  } catch (error) {
    // A server without the command has done nothing.
    if (!(error instanceof Error && error.message.startsWith('ERR unknown command'))) throw error;
    const deleted = Number(await other(redis, key, value));
    known.set(redis, other);
    return deleted;
  }
}
