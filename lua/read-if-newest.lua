-- Reads the stock, unless a newer token has been seen. From now on, reads and writes with an older token are refused.
-- KEYS[1] the stock, KEYS[2] the fence, a hash { lock: newest token }; ARGV[1] the lock, ARGV[2] our token, in digits.
-- Returns the stock as a string, nil if there is none, -1 if refused.
local newest, ours = redis.call('HGET', KEYS[2], ARGV[1]) or '0', ARGV[2]
-- A Lua number is exact only up to 2^53, so compare digits: the longer string is the larger token.
if #ours < #newest or (#ours == #newest and ours < newest) then
  return -1
end
redis.call('HSET', KEYS[2], ARGV[1], ours)
return redis.call('GET', KEYS[1])
