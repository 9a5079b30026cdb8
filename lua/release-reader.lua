-- Releases one hold of a reader. After the last one the reader is out.
-- KEYS[1] the readers, a hash { owner token: hold count },
-- KEYS[2] when their leases expire, a sorted set { owner token: ms };
-- ARGV[1] our owner token.
-- Returns the holds left (0 if we are out), -1 if we held none or our lease has expired.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local lease_end_ms = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0)
local hold_count = -1
if lease_end_ms > now_ms then
  hold_count = (redis.call('HGET', KEYS[1], ARGV[1]) or 0) - 1
end
if hold_count > 0 then
  -- PEXPIREAT first: when Redis is out of memory, it refuses HINCRBY unless the script has already written.
  local last_ms = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
  redis.call('PEXPIREAT', KEYS[1], last_ms)
  redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
else
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return hold_count
