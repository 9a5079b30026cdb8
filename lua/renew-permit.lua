-- Restarts the lease of our permit if it has not expired.
-- KEYS[1] the permits taken, a sorted set { owner token: when its lease expires, in ms };
-- ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns 1 if renewed, 0 if the lease has expired or the permit was returned.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0) <= now_ms then
  return 0
end
-- ZREM first: when Redis is out of memory, it refuses ZADD unless the script has already written.
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now_ms + ARGV[2], ARGV[1])
redis.call('PEXPIREAT', KEYS[1], redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return 1
