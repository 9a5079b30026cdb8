-- Gives our permit back.
-- KEYS[1] the permits that are taken, a sorted set { owner token: when its lease ends, in ms };
-- ARGV[1] our owner token.
-- Returns 0 when it is given back, -1 when we had none, or its lease has ended.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local lease_end_ms = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
redis.call('ZREM', KEYS[1], ARGV[1])
return lease_end_ms > now_ms and 0 or -1
