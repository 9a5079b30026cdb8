// Deletes a key if it holds a value: one command of the server, whichever it has.

import type { RedisClient } from '../lock.ts';

/** The commands that do it, each with the first server that has it. A server may have one of them, both, or neither. */
export const deletingCommands = { DELIFEQ: 'Valkey 9', DELEX: 'Redis 8.4' };

type Delete = (redis: RedisClient, key: string, value: string) => Promise<unknown>;

const byDelifeq: Delete = (redis, key, value) => redis.call('DELIFEQ', key, value);
const byDelex: Delete = (redis, key, value) => redis.call('DELEX', key, 'IFEQ', value);

const known = new WeakMap<RedisClient, Delete>();

/**
 * Resolves with 1 when the key is deleted, with 0 when it is not there or holds
 * something else. Rejects when the server does not answer, or has neither command.
 */
export async function deleteIfEqual(redis: RedisClient, key: string, value: string): Promise<number> {
  const first = known.get(redis) ?? byDelifeq;
  const other = first === byDelifeq ? byDelex : byDelifeq;
  try {
    return Number(await first(redis, key, value));
  } catch (error) {
    // A server that does not know the command has done nothing.
    if (!(error instanceof Error && error.message.startsWith('ERR unknown command'))) throw error;
    const deleted = Number(await other(redis, key, value));
    known.set(redis, other);
    return deleted;
  }
}
