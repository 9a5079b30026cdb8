import { describe, expect, test } from 'vitest';
import { readLock } from '../../prove/sandbox.ts';
import { searchIn, writeLock } from './own-locks.ts';

const withAcquire = (code: string) => writeLock(`return { async acquire() { ${code} }, async release() {} };`);

const refused: [code: string, name: string][] = [
  ['Date.now();', 'Date.now'],
  ["await fetch('http://127.0.0.1');", 'fetch()'],
  ['globalThis.setTimeout(() => {}, 1);', 'globalThis.setTimeout'],
  ['(global as any).Date.now();', 'global.Date'],
  ['crypto.getRandomValues(new Uint8Array(1));', 'crypto.getRandomValues'],
  ["await redis.blpop('list', 0);", 'the command BLPOP, which waits at the server'],
  ['await redis.wait(1, 0);', 'the command WAIT, which waits at the server'],
  ["await redis.xread('BLOCK', 0, 'STREAMS', 'log', '$');", 'the command XREAD with BLOCK, which waits at the server'],
  ['redis.multi();', 'MULTI'],
  ['await redis.watch(key);', 'the command WATCH, which changes its connection'],
  ["await redis.psubscribe('news*');", 'the command PSUBSCRIBE, which changes its connection'],
  ["await redis.script('FLUSH');", 'the command SCRIPT, which changes what scripts there are'],
  ["await redis.duplicate().subscribe('a', 'b');", 'the command SUBSCRIBE to several channels at once'],
  ["await redis.set(key, Buffer.from('a'));", 'an object as a part of the command SET'],
];

describe('sandbox: what the search does not control is refused by its name', () => {
  test.each(refused)('%s', async (code, name) => {
    const result = await searchIn(withAcquire(code), 'plain');

    expect(result).toMatchObject({
      verdict: 'unknown',
      reason: `The lock uses ${name}, which the model checker does not control.`,
      schedules: 0,
    });
    expect(result.cut).toBeGreaterThan(0);
  });

  test('also when the lock catches the error', async () => {
    const result = await searchIn(withAcquire('try { Date.now(); } catch {}'), 'lost-wakeup');

    expect(result).toMatchObject({ verdict: 'unknown', reason: expect.stringContaining('Date.now') });
  });

  test('also where the file is read, before anybody asks for the lock', async () => {
    const file = writeLock('return { async acquire() {}, async release() {} };', 'const startedAt = Date.now();');

    await expect(readLock(file)).rejects.toThrow('it uses Date.now, which the model checker does not control');
  });

  test('a module that the search has not is named', async () => {
    const file = writeLock(
      'return { async acquire() {}, async release() {} };',
      "import { connect } from 'node:net';\nconnect(1);",
    );

    await expect(readLock(file)).rejects.toThrow('it imports node:net, which the model checker does not control');
  });
});
