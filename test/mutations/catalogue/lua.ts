import type { Mutation } from '../mutation.ts';

/** The Lua scripts: a wrong comparison, a missing expiry, a return that says something else. */
export const lua: Mutation[] = [
  {
    name: 'release-of-any-owner',
    file: 'lua/release-if-owner.lua',
    find: "redis.call('GET', KEYS[1]) == ARGV[1]",
    replace: "redis.call('EXISTS', KEYS[1]) == 1",
    why: 'Any holder deletes the lock of any other.',
    tests: ['test/lua/returns.test.ts'],
  },
  {
    name: 'hold-count-off-by-one',
    file: 'lua/release-reentrant.lua',
    find: 'if hold_count > 0 then',
    replace: 'if hold_count > 1 then',
    why: 'The inner release frees the lock of the outer hold.',
    tests: ['test/lua/returns.test.ts'],
  },
  {
    name: 'renew-of-any-owner',
    file: 'lua/renew-if-owner.lua',
    find: "redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1",
    replace: "redis.call('EXISTS', KEYS[1]) == 1",
    why: 'A holder that has lost its lock renews the lease of the next one, and believes that it holds.',
    tests: ['test/lua/returns.test.ts'],
  },
  {
    name: 'token-as-a-lua-number',
    file: 'lua/acquire-fenced.lua',
    find: "return redis.call('GET', KEYS[2])",
    replace: "return string.format('%.0f', redis.call('GET', KEYS[2]))",
    why: 'Above 2^53 the holder gets another token than the one that was made.',
    tests: ['test/lua/returns.test.ts'],
  },
  {
    name: 'read-does-not-register-its-token',
    file: 'lua/read-if-newest.lua',
    find: "redis.call('HSET', KEYS[2], ARGV[1], ours)\n",
    replace: '',
    why: 'Between the read and the write of a holder the stock takes the write of one that has lost its lock.',
    tests: ['test/lua/returns.test.ts'],
  },
  {
    name: 'restored-mark-missing',
    file: 'lua/restore-once.lua',
    find: "redis.call('SET', KEYS[3], 1, 'PX', ARGV[2])\n",
    replace: '',
    why: 'Nothing says that the units of the order are back: they are put back twice.',
    tests: ['test/lua/returns.test.ts'],
  },
  {
    name: 'take-one-of-nothing',
    file: 'lua/take-one.lua',
    find: 'if stock > 0 then',
    replace: 'if stock >= 0 then',
    why: 'A stock of 0 becomes -1.',
    tests: ['test/lua/returns.test.ts'],
  },
  {
    name: 'handed-to-a-deaf-node',
    file: 'lua/release-to-next-node.lua',
    find: "while channel and redis.call('PUBLISH', channel, KEYS[1]) == 0 do",
    replace: "while channel and redis.call('PUBLISH', channel, KEYS[1]) < 0 do",
    why: 'The lock is handed to a node that no longer listens, and lies there for a lease.',
    tests: ['test/lua/returns.test.ts'],
  },
];
