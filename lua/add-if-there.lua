-- Adds units to the stock if the key exists: check and add are one step.
-- KEYS[1] the stock; ARGV[1] the number of units.
-- Returns 1 if added, 0 if there is no stock key.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('INCRBY', KEYS[1], ARGV[1])
return 1
