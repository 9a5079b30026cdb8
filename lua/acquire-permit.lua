-- Takes a permit if one is left.
-- KEYS[1] the permits taken, a sorted set { owner token: when its lease expires, in ms };
-- ARGV[1] our owner token, ARGV[2] the lease in ms, ARGV[3] the number of permits.
-- Returns 1 if we have taken one, 0 if none is left or we already have one.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_ms)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) or redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
redis.call('ZADD', KEYS[1], now_ms + ARGV[2], ARGV[1])
redis.call('PEXPIREAT', KEYS[1], redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return 1
