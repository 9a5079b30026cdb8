-- Puts units into the stock, if there is one: looking and adding are one step.
-- KEYS[1] the stock; ARGV[1] how many units.
-- Returns 1 when added, 0 when there is no stock.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('INCRBY', KEYS[1], ARGV[1])
return 1
