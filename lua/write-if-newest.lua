-- Writes the stock, unless a newer token has been seen: then the writer has lost the lock without knowing it.
-- KEYS[1] the stock, KEYS[2] the fence, a hash { lock: newest token };
-- ARGV[1] the new stock, ARGV[2] the lock, ARGV[3] our token, in digits.
-- Returns 1 if written, 0 if refused.
local newest, ours = redis.call('HGET', KEYS[2], ARGV[2]) or '0', ARGV[3]
-- A Lua number is exact only up to 2^53, so compare digits: the longer string is the larger token.
if #ours < #newest or (#ours == #newest and ours < newest) then
  return 0
end
redis.call('HSET', KEYS[2], ARGV[2], ours)
redis.call('SET', KEYS[1], ARGV[1])
return 1
