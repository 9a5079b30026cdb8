-- Lets a reader in, or in again, and restarts its lease, unless another request writes or waits to write.
-- KEYS[1] the writer, a hash { owner token: hold count }, KEYS[2] the readers, a hash { owner token: hold count },
-- KEYS[3] when their leases expire, a sorted set { owner token: ms }, KEYS[4] the mark of a waiting writer;
-- ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns our hold count (1 or more) if we may read, 0 if we must wait.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now_ms)) do
  redis.call('HDEL', KEYS[2], dead)
  redis.call('ZREM', KEYS[3], dead)
end
local is_inside = redis.call('HEXISTS', KEYS[1], ARGV[1]) + redis.call('HEXISTS', KEYS[2], ARGV[1]) > 0
if not is_inside and redis.call('EXISTS', KEYS[1], KEYS[4]) > 0 then
  return 0
end
local hold_count = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
redis.call('ZADD', KEYS[3], now_ms + ARGV[2], ARGV[1])
local last_ms = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIREAT', KEYS[2], last_ms)
redis.call('PEXPIREAT', KEYS[3], last_ms)
return hold_count
