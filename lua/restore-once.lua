-- Puts the units of one order back into the stock, once: check, add and mark are one step.
-- KEYS[1] the stock, KEYS[2] the fence, KEYS[3] the mark of the order;
-- ARGV[1] the number of units, ARGV[2] how long the mark lasts in ms, ARGV[3] the lock, ARGV[4] our token, in digits, if any.
-- Returns 1 if added, 0 if that was done before, -1 if refused because a newer token has been seen.
if redis.call('EXISTS', KEYS[3]) == 1 then
  return 0
end
local ours = ARGV[4]
if ours then
  local newest = redis.call('HGET', KEYS[2], ARGV[3]) or '0'
  -- A Lua number is exact only up to 2^53, so compare digits: the longer string is the larger token.
  if #ours < #newest or (#ours == #newest and ours < newest) then
    return -1
  end
  redis.call('HSET', KEYS[2], ARGV[3], ours)
end
redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('SET', KEYS[3], 1, 'PX', ARGV[2])
return 1
