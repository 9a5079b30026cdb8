-- Acquires the lock if it is free and nobody waits before us, or if it was handed to us. Else we wait for our turn.
-- KEYS[1] the lock, the name of its holder, KEYS[2] the queue, a list of names
-- `<process>:<lease in ms>:<more>`, whose process subscribes to `<lock>:<process>`,
-- KEYS[3] the process that last got the lock when it was free although requests were waiting;
-- ARGV[1] our name, ARGV[2] the lease in ms, ARGV[3] 'join' the queue, 'stay' in it, or 'try' without it.
-- Returns 0 if we hold the lock, -1 if we have lost our place, else the milliseconds until the next try is worthwhile.
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local suspect = redis.call('GET', KEYS[3])
  local first, process, lease_ms
  repeat
    first = redis.call('LPOP', KEYS[2])
    if not first or first == ARGV[1] then
      return 0
    end
    process, lease_ms = string.match(first, '^(.-):(%d+)')
  until process ~= suspect and redis.call('PUBLISH', KEYS[1] .. ':' .. process, first) > 0
  redis.call('SET', KEYS[1], first, 'PX', lease_ms)
  redis.call('SET', KEYS[3], process, 'PX', 2 * lease_ms)
elseif ARGV[3] == 'stay' and redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0
end

if ARGV[3] == 'stay' and not redis.call('LPOS', KEYS[2], ARGV[1]) then
  return -1
end
local is_behind = ARGV[3] == 'join' and redis.call('RPUSH', KEYS[2], ARGV[1]) > 1
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return is_behind and tonumber(ARGV[2]) or math.max(redis.call('PTTL', KEYS[1]), 1)
