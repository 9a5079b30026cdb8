// A command and its reply are two steps where something can come between them, and what comes over one connection keeps its order.

import { expect, test } from 'vitest';
import { searchIn, writeLock } from './own-locks.ts';

const free = (publish: string) =>
  `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) ${publish} return 1 end return 0`;
const lockOf = (acquire: string, isPublished = true) =>
  writeLock(
    `const take = async () => (await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) === 'OK';
    let news = 0;
    let wake = () => {};
    const listener = redis.duplicate();
    listener.on('message', () => { news += 1; wake(); });
    const woken = () => new Promise((resolve) => { wake = resolve; });
    return {
      async acquire() { ${acquire} },
      async release() { await redis.eval(${JSON.stringify(free(isPublished ? "redis.call('PUBLISH', KEYS[1], 1)" : ''))}, 1, key, ownerToken); },
    };`,
    "import { setTimeout as sleep } from 'node:timers/promises';",
  );

test.each([
  [
    'it looks whether it was woken before the reply',
    `for (let seen = news; !(await take()); seen = news) if (news === seen) await woken();`,
    'holds',
  ],
  ['it is woken before the reply, and sleeps', 'while (!(await take())) await woken();', 'fails'],
  ['it is woken once, and forgets the others', 'if (!(await take())) { await woken(); await take(); }', 'fails'],
])('it listens first: %s', async (_what, acquire, verdict) => {
  expect(await searchIn(lockOf(`await listener.subscribe(key); ${acquire}`), 'lost-wakeup')).toMatchObject({ verdict });
});

test('no message is heard before SUBSCRIBE was answered', async () => {
  const strict = lockOf(`
    let isAnswered = false;
    listener.on('message', () => { if (!isAnswered) throw new Error('a message without a subscription'); });
    await listener.subscribe(key).then(() => { isAnswered = true; });
    for (let seen = news; !(await take()); seen = news) if (news === seen) await woken();`);

  expect(await searchIn(strict, 'lost-wakeup')).toMatchObject({ verdict: 'holds' });
});

test('zombie-renewal: who has the lock and is paused before it is inside is not late by the crash of another', async () => {
  const twoCommands = lockOf('while (!(await take())) await sleep(retryDelayMs); await redis.get(key);', false);

  expect(await searchIn(twoCommands, 'zombie-renewal')).toMatchObject({ verdict: 'holds' });
});
