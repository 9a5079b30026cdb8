-- Moves the units of all buckets into the first one, where every lock finds them. Who is in a bucket is refused when it writes.
-- KEYS[1] the fence, a hash { lock: newest token }, KEYS[2] the stock, which is the first bucket, then the tokens made so far
-- for it; then both of each further bucket; ARGV the lock of each bucket.
-- Returns how many units were moved, an error when a stock is no whole number.
local moved = 0
for bucket, lock in ipairs(ARGV) do
  local stock, tokens = KEYS[2 * bucket], KEYS[2 * bucket + 1]
  local units = redis.call('GET', stock)
  if units and bucket > 1 then
    redis.call('INCRBY', KEYS[2], units)
    redis.call('DEL', stock)
    moved = moved + units
  end
  if units then
    -- The newest token is nobody's.
    redis.call('INCR', tokens)
    redis.call('HSET', KEYS[1], lock, redis.call('GET', tokens))
  end
end
return moved
