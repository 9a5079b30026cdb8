-- Gives up one hold of ours. The last one deletes the lock and wakes the waiters, any other starts the lease anew.
-- KEYS[1] the lock, a hash { owner token: hold count };
-- ARGV[1] our owner token, ARGV[2] the lease in ms, ARGV[3] the waiters' channel.
-- Returns the holds still ours (0 when the lock is free now), -1 when we held none.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return -1
end
local hold_count = redis.call('HGET', KEYS[1], ARGV[1]) - 1
if hold_count > 0 then
  -- PEXPIRE first: when Redis is out of memory it refuses HINCRBY, unless the script has written before.
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
else
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', ARGV[3], 'released')
end
return hold_count
