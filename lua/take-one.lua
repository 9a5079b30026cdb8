-- Takes one unit from the stock if there is one: check and take are one step.
-- KEYS[1] the stock; no ARGV.
-- Returns the stock before the sale (1 or more), 0 if sold out, -1 if there is no stock key, an error if it is not an integer.
local text = redis.call('GET', KEYS[1])
if not text then
  return -1
end
local stock = tonumber(text) or 0
-- Lua also accepts 1e3 as a number, and rounds from 2^53 on.
if text ~= string.format('%.0f', stock) or math.abs(stock) >= 2^53 then
  return redis.error_reply('ERR the stock is not an integer')
end
if stock > 0 then
  redis.call('DECR', KEYS[1])
end
return math.max(stock, 0)
