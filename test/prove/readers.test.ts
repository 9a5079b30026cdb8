import { expect, test } from 'vitest';
import { replay } from '../../prove/replay.ts';
import { writeModule } from '../loadtest/grade/modules.ts';
import { fileOf, open, scopeNamed, searchIn } from './own-locks.ts';

const scope = scopeNamed('early-read');

/** A lock of two keys, the writer and a count of readers, without leases. `mayWrite` and `mayRead` say in Lua when one may enter. */
function writeLocks({ mayWrite, mayRead }: { mayWrite: string; mayRead: string }): string {
  const lock = (name: string, enter: string, leave: string) => `
    export const ${name} = ({ redis, key, retryDelayMs }) => ({
      async acquire(signal) {
        while ((await redis.eval(${JSON.stringify(enter)}, 2, key, key + ':readers')) === 0) await sleep(retryDelayMs, undefined, { signal });
      },
      async release() {
        await redis.eval(${JSON.stringify(leave)}, 2, key, key + ':readers');
      },
    });`;
  const enter = (may: string, change: string) => `if ${may} then ${change} return 1 end return 0`;
  const code = [
    "import { setTimeout as sleep } from 'node:timers/promises';",
    lock('createLock', enter(mayWrite, "redis.call('SET', KEYS[1], 1)"), "redis.call('DEL', KEYS[1])"),
    lock(
      'createReadLock',
      enter(mayRead, "redis.call('INCR', KEYS[2])"),
      "if redis.call('DECR', KEYS[2]) == 0 then redis.call('DEL', KEYS[2]) end",
    ),
  ];
  return writeModule('lock.ts', code.join('\n'));
}

const nobodyWrites = "redis.call('EXISTS', KEYS[1]) == 0";
const nobodyReads = "redis.call('EXISTS', KEYS[2]) == 0";
const sound = { mayWrite: `${nobodyWrites} and ${nobodyReads}`, mayRead: nobodyWrites };

// With two: matrix.test.ts.
test('readers: with three processes read-write holds in every order', async () => {
  expect(await searchIn(fileOf('read-write'), scope, { processes: 3 })).toMatchObject({ verdict: 'holds', cut: 0 });
});

test('readers: a lock whose two sides look for each other holds', async () => {
  expect(await searchIn(writeLocks(sound), scope)).toMatchObject({ verdict: 'holds', cut: 0 });
});

test.each([
  ['a reader that does not look for the writer', { ...sound, mayRead: 'true' }],
  ['a writer that does not look for readers', { ...sound, mayWrite: nobodyWrites }],
])('readers: %s is inside with a sale, and the order is replayed', async (_, broken) => {
  const file = writeLocks(broken);

  const { verdict, reason, counterexample = [] } = await searchIn(file, scope);

  expect({ verdict, reason }).toEqual({ verdict: 'fails', reason: 'A and B are inside at the same time.' });
  const options = { openLock: await open(file), sales: 1, scope, processes: 2, masters: 0 };
  expect(await replay(counterexample, options)).toBeUndefined();
  expect(counterexample.map(({ what }) => what.form)).toContain('begins to look');
});
