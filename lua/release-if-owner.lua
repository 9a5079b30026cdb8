-- Deletes the lock if its value is our owner token, as one step.
-- KEYS[1] the lock, a string; ARGV[1] our owner token.
-- Returns 1 when deleted, 0 when the lock is gone or somebody else's.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
