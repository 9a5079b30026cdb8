-- Hands our lock to the first waiter in the queue that receives it or is new, or frees it. Without the lock, leaves the queue.
-- KEYS[1] the lock, the name of its holder, KEYS[2] the queue, a list of names
-- `<process>:<lease in ms>:<hears or new>:<more>`, whose process subscribes to `<lock>:<process>`, a new one shortly;
-- ARGV[1] our name.
-- Returns 1 if the lock was ours, 0 if it is gone or belongs to another holder.
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
