-- Takes us out of the queue. If we were in it and the lock is free, wakes the first that still waits.
-- KEYS[1] the lock, KEYS[2] the queue, a sorted set { owner token: ticket },
-- KEYS[3] a sorted set { owner token: until when it counts as alive, in ms };
-- ARGV[1] our owner token, ARGV[2] the waiters' channel.
-- Returns 1 when we were in the queue, 0 when not.
local was_waiting = redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
if was_waiting == 1 and first and redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('PUBLISH', ARGV[2], first)
end
return was_waiting
