-- Moves the units of other buckets into the first one, where every lock finds them. Who is in a bucket is refused its write.
-- KEYS[1] the fence, a hash { lock: newest token }, KEYS[2] the stock, which is the first bucket, then the tokens
-- made so far for it; then both of each other bucket;
-- ARGV[1] our lock, ARGV[2] our token, in digits, or '', then the lock of each bucket.
-- Returns 1 when moved, 0 when refused, because a newer token has been seen; an error when a stock is no whole number.
local newest, ours = redis.call('HGET', KEYS[1], ARGV[1]) or '0', ARGV[2]
if ours ~= '' then
  -- A Lua number is exact up to 2^53 only. So digits are compared: more of them are a larger token.
  if #ours < #newest or (#ours == #newest and ours < newest) then
    return 0
  end
  redis.call('HSET', KEYS[1], ARGV[1], ours)
end
for i = 3, #ARGV do
  local stock, tokens = KEYS[2 * i - 4], KEYS[2 * i - 3]
  local units = redis.call('GET', stock)
  if units and i > 3 then
    redis.call('INCRBY', KEYS[2], units)
    redis.call('DEL', stock)
  end
  if units then
    -- The newest token is nobody's.
    redis.call('INCR', tokens)
    redis.call('HSET', KEYS[1], ARGV[i], redis.call('GET', tokens))
  end
end
return 1
