-- Takes one unit out of the stock if there is one: looking and taking are one step.
-- KEYS[1] the stock; no ARGV.
-- Returns the stock before it (1 or more), 0 when sold out, -1 when there is none, an error when it is no whole number.
local text = redis.call('GET', KEYS[1])
if not text then
  return -1
end
local stock = tonumber(text) or 0
-- Lua takes 1e3 for a number, too, and rounds from 2^53 on.
if text ~= string.format('%.0f', stock) or math.abs(stock) >= 2^53 then
  return redis.error_reply('ERR the stock is not an integer')
end
if stock > 0 then
  redis.call('DECR', KEYS[1])
end
return math.max(stock, 0)
