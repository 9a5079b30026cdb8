-- Reads the stock, unless a newer token has been seen. An older one is refused from now on, by reads and by writes.
-- KEYS[1] the stock, KEYS[2] the fence, a hash { lock: newest token }; ARGV[1] the lock, ARGV[2] our token, in digits.
-- Returns the stock as a text, nil when there is none, -1 when refused.
local newest, ours = redis.call('HGET', KEYS[2], ARGV[1]) or '0', ARGV[2]
-- A Lua number is exact up to 2^53 only. So digits are compared: more of them are a larger token.
if #ours < #newest or (#ours == #newest and ours < newest) then
  return -1
end
redis.call('HSET', KEYS[2], ARGV[1], ours)
return redis.call('GET', KEYS[1])
