// Which keys are a lock's is seen from its commands, whatever their names are.

import { expect, test } from 'vitest';
import { searchIn, writeLock } from './own-locks.ts';

interface Parts {
  /** The name of its key, and what is sent besides to take it and to give it up. */
  own?: string;
  acquire?: string;
  free?: string;
}

const ifOwner = (change: string) => `if redis.call('GET', KEYS[1]) == ARGV[1] then return ${change} end return 0`;
const lockOf = ({ own = "key + ':lock'", acquire = '', free = ifOwner("redis.call('DEL', KEYS[1])") }: Parts) =>
  writeLock(
    `const own = ${own};
    return {
      async acquire(signal) {
        while ((await redis.set(own, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs, undefined, { signal });
        ${acquire}
      },
      async release() { await redis.eval(${JSON.stringify(free)}, 1, own, ownerToken); },
    };`,
    "import { setTimeout as sleep } from 'node:timers/promises';",
  );

const counts = "await redis.incr(key + ':fencing');";
const twoKeys = ifOwner("redis.call('DEL', KEYS[1], KEYS[1] .. ':owner')");
test.each<[string, Parts, string[], string]>([
  ['a key of another name', {}, ['plain', 'lost-wakeup', 'late-release', 'slow-holder', 'client-gone'], 'holds'],
  ['a counter of another name', { acquire: counts }, ['plain'], 'holds'],
  ['two keys', { acquire: "await redis.set(own + ':owner', ownerToken);", free: twoKeys }, ['lost-wakeup'], 'holds'],
  ['a release that does not look', { free: "redis.call('DEL', KEYS[1])" }, ['late-release', 'slow-holder'], 'fails'],
  ['a release that ends the key', { free: "redis.call('PEXPIRE', KEYS[1], 0)" }, ['late-release'], 'fails'],
  ['a list that grows', { acquire: "await redis.rpush(key + ':log', 'x');" }, ['plain'], 'fails'],
  ['a key that each holder leaves', { acquire: 'await redis.set(key + ownerToken, 1);' }, ['plain'], 'fails'],
  ['a key of each holder', { own: 'key + ownerToken' }, ['plain'], 'fails'],
])('%s', async (_what, parts, scopes, verdict) => {
  const file = lockOf(parts);
  for (const scope of scopes) expect({ scope, ...(await searchIn(file, scope)) }).toMatchObject({ scope, verdict });
});

test('of a key that stays when the lock is given up it is not said that it is free', async () => {
  const stays = writeLock(
    `const take = "if redis.call('GET', KEYS[1]) ~= 'free' and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end redis.call('SET', KEYS[1], ARGV[1]) return 1";
    return {
      async acquire() { while ((await redis.eval(take, 1, key, ownerToken)) === 0) await sleep(retryDelayMs); },
      async release() { await redis.set(key, 'free'); },
    };`,
    "import { setTimeout as sleep } from 'node:timers/promises';",
  );

  expect(await searchIn(stays, 'lost-wakeup')).toMatchObject({
    verdict: 'unknown',
    reason: "The key lock is still there after a release, so the model checker can't see whether the lock is free.",
  });
});

test('of a key without a TTL that lets another in when a field says so, it is not said until when it is held', async () => {
  const clocked = writeLock(
    `const take = "local now = redis.call('TIME')[1] if tonumber(redis.call('GET', KEYS[1]) or 0) > tonumber(now) then return 0 end redis.call('SET', KEYS[1], now + 1) return 1";
    return {
      async acquire() { while ((await redis.eval(take, 1, key)) === 0) await sleep(retryDelayMs); },
      async release() { await redis.del(key); },
    };`,
    "import { setTimeout as sleep } from 'node:timers/promises';",
  );

  expect(await searchIn(clocked, 'slow-holder')).toMatchObject({
    verdict: 'unknown',
    why: { form: 'a lease in a value', values: { keys: ['lock'] } },
  });
});

test('who gave its own lock up while it was inside is blamed, and not who takes it', async () => {
  const careless = lockOf({ acquire: 'void redis.del(own).catch(() => {});' });

  expect(await searchIn(careless, 'slow-holder')).toMatchObject({
    verdict: 'fails',
    why: { form: 'gave its lock up', values: { process: 'A', other: 'B' } },
  });
});

/** Who waits has a place in a queue; `leaves` gives it up when its client has gone. */
const queueWith = (leaves: string) => {
  const ask = `if not redis.call('LPOS', KEYS[2], ARGV[1]) then redis.call('RPUSH', KEYS[2], ARGV[1]) end
    if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('LINDEX', KEYS[2], 0) ~= ARGV[1] then return 0 end
    redis.call('LPOP', KEYS[2]) redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`;
  return writeLock(
    `const queue = key + ':queue';
    return {
      async acquire(signal) {
        try {
          while ((await redis.eval(${JSON.stringify(ask)}, 2, key, queue, ownerToken, leaseMs)) === 0) await sleep(retryDelayMs, undefined, { signal });
        } catch (error) { ${leaves} throw error; }
      },
      async release() { await redis.eval(${JSON.stringify(ifOwner("redis.call('DEL', KEYS[1])"))}, 1, key, ownerToken); },
    };`,
    "import { setTimeout as sleep } from 'node:timers/promises';",
  );
};
test.each([
  ['leaves it: the next one looks a delay later', 'await redis.lrem(queue, 0, ownerToken);', 'holds'],
  ['stays in it: nobody enters any more', '', 'fails'],
])('the first of a queue whose client has gone %s', async (_what, leaves, verdict) => {
  expect(await searchIn(queueWith(leaves), 'client-gone', { processes: 3 })).toMatchObject({ verdict });
});
