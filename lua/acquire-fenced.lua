-- Takes a free lock, or takes our own once more, and starts the lease anew. Each taking of a free lock makes the next token.
-- KEYS[1] the lock, a hash { owner token: hold count }, KEYS[2] the tokens made so far; ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns our fencing token (1 or more) when we hold it, 0 when somebody else does.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if hold_count == 1 then
  return redis.call('INCR', KEYS[2])
end
return tonumber(redis.call('GET', KEYS[2]))
