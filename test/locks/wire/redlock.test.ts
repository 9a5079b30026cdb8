import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/redlock.ts';
import { aborted, lockOptions } from '../lock-options.ts';
import { until } from '../until.ts';
import { ownMasters } from './own-masters.ts';

const { connect, forget, freeze, resume, votes, key } = ownMasters(3);
const tooFewAnswer = { name: 'NoMajorityError', code: 'NO_MAJORITY' };

// Real masters. How their votes are counted, and for how long they are waited for, is in beyond/redlock.test.ts.

const lockOf = (masters: Redis[], ownerToken: string) =>
  createLock(lockOptions({ redis: undefined as never, key: key(), masters, ownerToken }));
const allSay = (owner: string | null) => until(async () => (await votes(key())).every((vote) => vote === owner));

test('redlock: real masters vote for the holder, keep the others out, and are freed by its release', async () => {
  const [a, b] = [lockOf(await connect(), 'a'), lockOf(await connect(), 'b')];
  await a.acquire();
  await allSay('a');
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

  await a.release();

  await allSay(null);
  await b.acquire();
  await b.release();
});

test('redlock: two of three that stand still let nobody in, and keep no late vote', async () => {
  const lock = lockOf(await connect(), 'a');
  freeze(0, 1);

  await expect(lock.acquire()).rejects.toMatchObject(tooFewAnswer);

  resume(0, 1);
  await allSay(null);
});

test('redlock: a master that was killed, and starts empty, votes twice', async () => {
  const [a, b] = [lockOf(await connect(), 'a'), lockOf(await connect(), 'b')];
  await a.acquire();
  await allSay('a');
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

  await forget(1);
  await forget(2);
  await until(() =>
    b.acquire(AbortSignal.abort()).then(
      () => true,
      () => false,
    ),
  );

  expect(await votes(key())).toEqual(['a', 'b', 'b']);
  expect(a.lost?.aborted).toBe(false);
});
