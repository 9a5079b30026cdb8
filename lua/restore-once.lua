-- Puts the units of one order back into the stock, once: looking, adding and marking are one step.
-- KEYS[1] the stock, KEYS[2] the fence, KEYS[3] the mark of the order; ARGV[1] how many units, ARGV[2] how long the mark stays, ms, ARGV[3] the lock, ARGV[4] our token, if any.
-- Returns 1 when added, 0 when that was done before, -1 when refused, because a newer token has been seen.
if redis.call('EXISTS', KEYS[3]) == 1 then
  return 0
end
if ARGV[4] then
  local newest = tonumber(redis.call('HGET', KEYS[2], ARGV[3]) or 0)
  if tonumber(ARGV[4]) < newest then
    return -1
  end
  redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
end
redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('SET', KEYS[3], 1, 'PX', ARGV[2])
return 1
