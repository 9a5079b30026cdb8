-- Hands our lock to the first node in the queue that receives the message. If none does, frees or renews it.
-- KEYS[1] the lock, a hash { owner token, or channel of the node that it was handed to: 1 },
-- KEYS[2] the channels of the waiting nodes;
-- ARGV[1] our owner token, ARGV[2] the lease in ms, ARGV[3] 'keep' or 'free' if no node receives the message.
-- Returns 1 if we keep the lock, 0 if it was handed over or freed, -1 if it is gone or belongs to another holder.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return -1
end
local channel = redis.call('LPOP', KEYS[2])
while channel and redis.call('PUBLISH', channel, KEYS[1]) == 0 do
  channel = redis.call('LPOP', KEYS[2])
end
if not channel and ARGV[3] == 'keep' then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
redis.call('DEL', KEYS[1])
if channel then
  redis.call('HSET', KEYS[1], channel, 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
