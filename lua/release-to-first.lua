-- Hands our lock to the first in the queue whose process hears of it, frees it when there is none. Or gives up our place.
-- A name is `<process>:<lease in ms>:<hears or new>:<more>`. Its process listens to the channel `<lock>:<process>`;
-- one that is new does so in a moment, and asks then.
-- KEYS[1] the lock, the name of its holder, KEYS[2] the queue, a list of names; ARGV[1] our name.
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
