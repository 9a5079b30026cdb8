-- Takes one unit out of the stock if there is one: looking and taking are one step.
-- KEYS[1] the stock; no ARGV.
-- Returns the stock before it (1 or more), 0 when sold out, -1 when there is no stock.
local stock = tonumber(redis.call('GET', KEYS[1]))
if not stock then
  return -1
end
if stock > 0 then
  redis.call('DECR', KEYS[1])
end
return math.max(stock, 0)
