import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RedisClient } from '../lock.ts';

/** Runs the script atomically on the server. Resolves with the integer it returns. */
export type RunScript = (redis: RedisClient, keys: string[], args: (string | number)[]) => Promise<number>;

/** Reads `lua/<name>.lua` once. Redis is sent the script's hash, and the text only when it does not know the hash. */
export function readScript(name: string): RunScript {
  const lua = readFileSync(new URL(`../../lua/${name}.lua`, import.meta.url), 'utf8');
  const sha1 = createHash('sha1').update(lua).digest('hex');

  return async (redis, keys, args) => {
    try {
      return (await redis.evalsha(sha1, keys.length, ...keys, ...args)) as number;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return (await redis.eval(lua, keys.length, ...keys, ...args)) as number;
    }
  };
}
