-- Acquires the lock if it is free, ours, or handed to our node, and starts the lease. Else our node joins the queue.
-- KEYS[1] the lock, a hash { owner token, or channel of the node that it was handed to: 1 },
-- KEYS[2] the channels of the waiting nodes, KEYS[3] the number of tokens created, if the lock has tokens;
-- ARGV[1] our owner token, ARGV[2] the lease in ms, ARGV[3] the channel of our node, '' if it does not wait.
-- Returns our token, in digits, or 0 without tokens, if we hold the lock, else the rest of the holder's lease in ms.
local holder = redis.call('HKEYS', KEYS[1])[1]
if not holder or holder == ARGV[1] or holder == ARGV[3] then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('LREM', KEYS[2], 0, ARGV[3])
  if not KEYS[3] then
    return 0
  end
  redis.call('INCR', KEYS[3])
  -- GET returns digits. A Lua number is exact only up to 2^53.
  return redis.call('GET', KEYS[3])
end
local lease_left = math.max(redis.call('PTTL', KEYS[1]), 1)
if ARGV[3] ~= '' then
  if not redis.call('LPOS', KEYS[2], ARGV[3]) then
    redis.call('RPUSH', KEYS[2], ARGV[3])
  end
  redis.call('PEXPIRE', KEYS[2], lease_left + ARGV[2])
end
return lease_left
