import { describe, expect, test } from 'vitest';
import { readText } from '../../lesson/project-files.ts';
import { aborted, openLab } from '../lab.ts';

const lab = openLab();

const linesOf = (file: string) => readText(file).replaceAll("'../", "'./").split('\n').slice(5);

test('delete-if-equal: is stage 6, but for how it deletes', () => {
  const [own, stage6] = [linesOf('locks/beyond/delete-if-equal.ts'), linesOf('locks/6-lua-release.ts')];

  expect(own.filter((line) => !stage6.includes(line))).toEqual([
    "import { deleteIfEqual } from './drivers/delete-if-equal.ts';",
    '    if ((await deleteIfEqual(redis, key, ownerToken)) === 0) throw new LockNotHeldError(key);',
  ]);
  expect(stage6.filter((line) => !own.includes(line))).toEqual([
    "import { readScript } from './drivers/script.ts';",
    "const releaseIfOwner = readScript('release-if-owner');",
    '    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);',
  ]);
});

test('delete-if-equal: looking and deleting are one command', async () => {
  const p = lab.process('delete-if-equal');
  const lock = p.lock();

  await lab.done(lock.acquire());
  await lab.done(lock.release());

  expect([p.sent, lab.redis('EXISTS', 'lock')]).toEqual([['set', 'delifeq'], 0]);
});

test('delete-if-equal: a holder that asks for its own lock again waits for itself', async () => {
  const patience = new AbortController();
  const lock = lab.process('delete-if-equal').lock({ ownerToken: 'a' });
  await lab.done(lock.acquire());

  const nested = lab.follow(lock.acquire(patience.signal));
  await lab.advance(10_000);
  expect(nested.state).toBe('pending');
  patience.abort();

  await expect(lab.done(nested)).rejects.toMatchObject(aborted);
  expect(lab.redis('GET', 'lock')).toBe('a');
});

test('delete-if-equal: it compares a string; a hash of hold counts, as stage 7 has it, is refused', async () => {
  const lock = lab.process('delete-if-equal').lock({ ownerToken: 'a' });
  lab.redis('HSET', 'lock', 'a', 1);

  await expect(lab.done(lock.release())).rejects.toThrow('WRONGTYPE');

  expect(lab.redis('HGET', 'lock', 'a')).toBe('1');
});

/** What the chapter says of a server that compares in SET alone. */
describe('delete-if-equal: SET with IFEQ', () => {
  const set = (value: string, ...end: (string | number)[]) => [
    lab.redis('SET', 'lock', value, 'IFEQ', value, ...end),
    lab.redis('PTTL', 'lock'),
  ];

  test('renews a lease that is the holder’s own, and no other', () => {
    lab.redis('SET', 'lock', 'a', 'PX', 10_000);

    expect(set('b', 'PX', 60_000)).toEqual([null, 10_000]);
    expect(set('a', 'PX', 60_000)).toEqual(['OK', 60_000]);
  });

  test('with an end that has passed it frees the holder’s own key at once, and no other', () => {
    lab.redis('SET', 'lock', 'a', 'PX', 10_000);

    expect(set('b', 'PXAT', 1)).toEqual([null, 10_000]);
    expect(set('a', 'PXAT', 1)).toEqual(['OK', -2]);
    expect(set('a', 'PXAT', 1)).toEqual([null, -2]);
  });

  test('with an end in a moment the key is there for so long, and a second release is answered like the first', () => {
    lab.redis('SET', 'lock', 'a', 'PX', 10_000);

    expect([set('a', 'PX', 1), set('a', 'PX', 1)]).toEqual([
      ['OK', 1],
      ['OK', 1],
    ]);
    expect(lab.redis('SET', 'lock', 'b', 'PX', 10_000, 'NX')).toBeNull();
  });
});
