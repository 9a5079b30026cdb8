-- Acquires the write lock if it is free or already ours, and restarts the lease. While others read, marks that we wait.
-- KEYS[1] the writer, a hash { owner token: hold count }, KEYS[2] the readers, a hash { owner token: hold count },
-- KEYS[3] when their leases expire, a sorted set { owner token: ms }, KEYS[4] the mark, which keeps new readers out;
-- ARGV[1] our owner token, ARGV[2] the lease in ms, ARGV[3] how long the mark lasts in ms, 0 for a single try.
-- Returns our hold count (1 or more) if we hold the lock, 0 if we must wait, -1 if we hold a read lock: we would wait forever.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  local time = redis.call('TIME')
  local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
  for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now_ms)) do
    redis.call('HDEL', KEYS[2], dead)
    redis.call('ZREM', KEYS[3], dead)
  end
  if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
    return -1
  end
  if redis.call('EXISTS', KEYS[1]) == 1 then
    return 0
  end
  if redis.call('EXISTS', KEYS[2]) == 1 then
    if tonumber(ARGV[3]) > 0 then
      redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[3])
    end
    return 0
  end
  redis.call('DEL', KEYS[4])
end
local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return hold_count
