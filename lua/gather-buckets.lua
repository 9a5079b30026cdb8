-- Moves the units of all buckets into the first one, where every lock finds them. A sale inside a bucket can't write any more.
-- KEYS[1] the fence, a hash { lock: newest token }, KEYS[2] the stock, which is the first bucket, then its number of
-- tokens created; then the same two keys of each other bucket;
-- ARGV[1] our lock, ARGV[2] our token, in digits, or '', then each bucket's lock.
-- Returns 1 if moved, 0 if refused because a newer token has been seen; an error if a stock is not an integer.
local newest, ours = redis.call('HGET', KEYS[1], ARGV[1]) or '0', ARGV[2]
if ours ~= '' then
  -- A Lua number is exact only up to 2^53, so compare digits: the longer string is the larger token.
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
    -- The newest token belongs to nobody.
    redis.call('INCR', tokens)
    redis.call('HSET', KEYS[1], ARGV[i], redis.call('GET', tokens))
  end
end
return 1
