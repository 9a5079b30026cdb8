-- Hands our lock to the first in the queue that hears of it or is new, or frees it. Else gives up our place.
-- KEYS[1] the lock, the name of its holder, KEYS[2] the queue, a list of names
-- `<process>:<lease in ms>:<hears or new>:<more>`, whose process listens to `<lock>:<process>`, if new in a moment;
-- ARGV[1] our name.
-- Returns 1 when the lock was ours, 0 when it is gone or somebody else's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  return 0
end
local first, process, lease_ms, hears
repeat
  first = redis.call('LPOP', KEYS[2])
  if not first then
    return redis.call('DEL', KEYS[1])
  end
  process, lease_ms, hears = string.match(first, '^(.-):(%d+):(%a+)')
until redis.call('PUBLISH', KEYS[1] .. ':' .. process, first) > 0 or hears == 'new'
redis.call('SET', KEYS[1], first, 'PX', lease_ms)
return 1
