import { describe, expect, test } from 'vitest';
import { startProcess } from '../../prove/process.ts';
import { open, searchIn, writeLock } from './own-locks.ts';

const script = { businessMs: 0 };

describe('process: a function of what has happened to it', () => {
  test('two processes share no variable of the lock’s file', async () => {
    const file = writeLock(
      "return { async acquire() { count += 1; await redis.set('count', count); }, async release() {} };",
      'let count = 0;',
    );
    const openLock = await open(file);
    const commands = [];
    for (const name of ['A', 'B']) {
      const process = startProcess(name, { openLock, servers: 1, sales: 1, script });
      await process.apply({ at: 0, chance: 0, type: 'begins' });
      commands.push(process.seen().pending[0]?.command);
    }

    expect(commands).toEqual([
      ['SET', 'count', 1],
      ['SET', 'count', 1],
    ]);
  });
});

// No two processes draw the same number, and none draws one twice, as it is with real luck.
test.each([
  ['its owner is one number', 'String(Math.random())', 'owner', 'holds'],
  ['its owner is digits', "[1, 2].map(() => Math.random().toString().slice(2)).join('')", 'owner', 'holds'],
  ['its owner is one of ten', 'Math.floor(Math.random() * 10)', 'owner', 'fails'],
  ['its owner is one of two', "Math.random() < 0.5 ? 'one' : 'two'", 'owner', 'fails'],
  ['it gives back what another owner has', 'String(Math.random())', 'String(await redis.get(key))', 'fails'],
])('luck: %s', async (_what, owner, given, verdict) => {
  const file = writeLock(
    `const owner = ${owner};
    const freeOwn = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    return {
      async acquire() {
        while ((await redis.set(key, owner, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs);
      },
      async release() { await redis.eval(freeOwn, 1, key, ${given}); },
    };`,
    "import { setTimeout as sleep } from 'node:timers/promises';",
  );

  expect(await searchIn(file, 'slow-holder')).toMatchObject({ verdict });
});

// A promise that nobody waits for ends a process as well: test/workshop/exercises/errors.
describe('process: what nobody catches', () => {
  test('an error in a timer ends the process, and is named', async () => {
    const file = writeLock(
      "return { async acquire() { setTimeout(() => { throw new Error('the watchdog broke') }, 100); }, async release() {} };",
    );

    expect(await searchIn(file, 'late-release')).toMatchObject({
      verdict: 'fails',
      reason: 'A dies of an unhandled error: the watchdog broke',
    });
  });
});
