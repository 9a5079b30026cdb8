-- Takes our own lock once more, or a free one when it is our turn, and starts the lease anew. Else queues us.
-- KEYS[1] the lock, a hash { owner token: hold count }, KEYS[2] the queue, a sorted set { owner token: ticket },
-- KEYS[3] a sorted set { owner token: until when it counts as alive, in ms };
-- ARGV[1] our owner token, ARGV[2] the lease in ms, ARGV[3] 1 to wait, 0 to try only.
-- Returns our hold count (1 or more) when we hold it, else minus the ms until it is worth asking again (-1 or less).
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now_ms)) do
  redis.call('ZREM', KEYS[2], dead)
  redis.call('ZREM', KEYS[3], dead)
end

local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1] or ARGV[1]
local left_ms = redis.call('PTTL', KEYS[1])
local is_free = left_ms == -2
if (is_free and first == ARGV[1]) or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return hold_count
end

if ARGV[3] == '1' then
  local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
  redis.call('ZADD', KEYS[2], 'NX', (last[2] or 0) + 1, ARGV[1])
  redis.call('ZADD', KEYS[3], now_ms + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('PEXPIRE', KEYS[3], ARGV[2])
end
if is_free then
  left_ms = redis.call('ZSCORE', KEYS[3], first) - now_ms
end
return -math.max(left_ms, 1)
