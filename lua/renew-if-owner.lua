-- Restarts the lease if the lock is ours.
-- KEYS[1] the lock, a hash { owner token: hold count }; ARGV[1] our owner token, ARGV[2] the lease in ms.
-- Returns 1 if renewed, 0 if the lock is gone or belongs to another holder.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
