-- Restarts the lease of a reader if it has not expired.
-- KEYS[1] the readers, a hash { owner token: hold count },
-- KEYS[2] when their leases expire, a sorted set { owner token: ms };
-- ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns 1 if renewed, 0 if it has expired.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0) <= now_ms then
  return 0
end
-- ZREM first: when Redis is out of memory, it refuses ZADD unless the script has already written.
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[2], now_ms + ARGV[2], ARGV[1])
local last_ms = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIREAT', KEYS[1], last_ms)
redis.call('PEXPIREAT', KEYS[2], last_ms)
return 1
