// A semaphore that looks wrong, and is right: a counter, and beside it the end of each permit in a hash. Its scripts keep both together.

import { renewed } from '../../locks/drivers/renewed.ts';
import type { CreateLock } from '../../locks/lock.ts';

/** Gives the permits back that have ended. */
const sweep = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local held = redis.call('HGETALL', KEYS[1])
  for at = 1, #held, 2 do
    if held[at] ~= 'count' and tonumber(held[at + 1]) <= now then
      redis.call('HDEL', KEYS[1], held[at])
      redis.call('HINCRBY', KEYS[1], 'count', -1)
    end
  end
  if redis.call('HGET', KEYS[1], 'count') == '0' then redis.call('DEL', KEYS[1]) end
`;
const keep = `
  local last = 0
  for _, text in ipairs(redis.call('HVALS', KEYS[1])) do last = math.max(last, tonumber(text)) end
  redis.call('PEXPIREAT', KEYS[1], last)
`;
const acquire = `${sweep}
  if tonumber(redis.call('HGET', KEYS[1], 'count') or 0) >= tonumber(ARGV[3]) then return 0 end
  if redis.call('HSETNX', KEYS[1], ARGV[1], now + ARGV[2]) == 0 then return 0 end
  redis.call('HINCRBY', KEYS[1], 'count', 1)
  ${keep}
  return 1
`;
const renew = `${sweep}
  if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], now + ARGV[2])
  ${keep}
  return 1
`;
const release = `${sweep}
  if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return -1 end
  if redis.call('HINCRBY', KEYS[1], 'count', -1) == 0 then redis.call('DEL', KEYS[1]) end
  return 0
`;

export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs, permits = 1 } = options;
  const run = (script: string, ...args: (string | number)[]) => redis.eval(script, 1, key, ...args) as Promise<number>;

  return renewed(options, {
    tryOnce: async () => (await run(acquire, ownerToken, leaseMs, permits)) === 1,
    renew: () => run(renew, ownerToken, leaseMs),
    giveBack: () => run(release, ownerToken),
  });
};
