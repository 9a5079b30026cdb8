-- Writes the stock, unless a newer token has been seen: then whoever writes has lost the lock and does not know it.
-- KEYS[1] the stock, KEYS[2] the fence, a hash { lock: newest token }; ARGV[1] the new stock, ARGV[2] the lock, ARGV[3] our token.
-- Returns 1 when written, 0 when refused.
local newest = tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or 0)
if tonumber(ARGV[3]) < newest then
  return 0
end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1])
return 1
