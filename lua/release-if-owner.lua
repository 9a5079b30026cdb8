-- Deletes the lock if its value is our owner token, in one step.
-- KEYS[1] the lock, a string; ARGV[1] our owner token.
-- Returns 1 if deleted, 0 if the lock is gone or belongs to another holder.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
