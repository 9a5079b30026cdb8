// Runs the scripts from lua/ on the server.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RedisClient } from '../lock.ts';

/** Runs the script atomically on the server. Resolves with its result: an integer, unless the script says otherwise. */
export type RunScript<T = number> = (redis: RedisClient, keys: string[], args: (string | number)[]) => Promise<T>;

/** Reads `lua/<name>.lua` once. Redis gets the script's hash, and its text only if it does not know the hash. */
export function readScript<Answer = number>(name: string): RunScript<Answer> {
  const lua = readFileSync(new URL(`../../lua/${name}.lua`, import.meta.url), 'utf8');
  const sha1 = createHash('sha1').update(lua).digest('hex');

  return async (redis, keys, args) => {
    try {
      return (await redis.evalsha(sha1, keys.length, ...keys, ...args)) as Answer;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return (await redis.eval(lua, keys.length, ...keys, ...args)) as Answer;
    }
  };
}
