-- Takes a free lock, or takes our own once more, and starts the lease anew. Taking a free lock makes the next token.
-- KEYS[1] the lock, a hash { owner token: hold count }, KEYS[2] the tokens made so far;
-- ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns our fencing token, in digits, when we hold it, nil when somebody else does.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if hold_count == 1 then
  redis.call('INCR', KEYS[2])
end
-- GET answers in digits. A Lua number is exact up to 2^53 only.
return redis.call('GET', KEYS[2])
