-- Acquires the lock if it is free or already ours, and restarts the lease. Acquiring a free lock creates the next token.
-- KEYS[1] the lock, a hash { owner token: hold count }, KEYS[2] the number of tokens created;
-- ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns our fencing token, in digits, if we hold the lock, nil if another holder does.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if hold_count == 1 then
  redis.call('INCR', KEYS[2])
end
-- GET returns digits. A Lua number is exact only up to 2^53.
return redis.call('GET', KEYS[2])
