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

// A promise that nobody waits for ends a process as well: test/exercises/errors.
describe('process: what nobody catches', () => {
  test('an error in a timer ends the process, and is named', async () => {
    const file = writeLock(
      "return { async acquire() { setTimeout(() => { throw new Error('the watchdog broke') }, 100); }, async release() {} };",
    );

    expect(await searchIn(file, 'late-release')).toMatchObject({
      verdict: 'fails',
      reason: 'A ends by an error that nobody catches: the watchdog broke',
    });
  });
});
