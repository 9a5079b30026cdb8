-- Acquires the lock if it is free or already ours, and restarts the lease.
-- KEYS[1] the lock, a hash { owner token: hold count }; ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns our hold count (1 or more) if we hold the lock, 0 if another holder does.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return hold_count
