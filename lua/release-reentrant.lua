-- Releases one of our holds. The last release deletes the lock, any other restarts the lease.
-- KEYS[1] the lock, a hash { owner token: hold count }; ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns the holds left (0 if the lock is now free), -1 if we held none.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return -1
end
local hold_count = redis.call('HGET', KEYS[1], ARGV[1]) - 1
if hold_count > 0 then
  -- PEXPIRE first: when Redis is out of memory, it refuses HINCRBY unless the script has already written.
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
else
  redis.call('DEL', KEYS[1])
end
return hold_count
