-- Releases our permit.
-- KEYS[1] the permits taken, a sorted set { owner token: when its lease expires, in ms };
-- ARGV[1] our owner token.
-- Returns 0 if the permit was ours, -1 if we had none or its lease has expired.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local lease_end_ms = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
redis.call('ZREM', KEYS[1], ARGV[1])
return lease_end_ms > now_ms and 0 or -1
