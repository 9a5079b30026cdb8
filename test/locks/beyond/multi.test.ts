import { expect, test } from 'vitest';
import { aborted, notHeld, openLab } from '../lab.ts';

const lab = openLab();
const KEYS = ['a', 'b', 'c'];
const LEASE_MS = 900;

/** The keys whose locks are taken. */
const taken = () => KEYS.filter((key) => lab.redis('EXISTS', key) === 1);

/** A lock of one sku, held by another process. */
async function holdElsewhere(key: string) {
  const lock = lab.process('multi').lock({ key });
  await lab.done(lock.acquire());
  return lock;
}

test('multi: the locks are taken in the order of their keys, and each once, however they are named', async () => {
  const other = await holdElsewhere('b');
  const p = lab.process('multi');
  const locks = p.multiLock(['c', 'a', 'b', 'c'], { leaseMs: LEASE_MS });

  const acquired = lab.follow(locks.acquire());
  // What it has is renewed meanwhile.
  await lab.advance(3 * LEASE_MS);

  expect([taken(), acquired.state]).toEqual([['a', 'b'], 'pending']);
  await lab.done(other.release());
  await lab.done(acquired);
  expect(taken()).toEqual(KEYS);
  await lab.done(locks.release());
  expect(taken()).toEqual([]);
  expect(p.sent.slice(-3)).toEqual(Array(3).fill('release-reentrant'));
  expect(p.sent.at(-4)).toBe('acquire-fenced');
});

test.each(KEYS)('multi: a wait for lock %s that is aborted leaves none taken', async (key) => {
  await holdElsewhere(key);
  const wait = new AbortController();
  const acquired = lab.follow(lab.process('multi').multiLock(KEYS).acquire(wait.signal));
  await lab.advance(100);

  wait.abort();

  await expect(lab.done(acquired, 0)).rejects.toMatchObject(aborted);
  expect(taken()).toEqual([key]);
});

test('multi: one that it loses while it waits for the next: it never enters, and gives the next one back', async () => {
  let losses = 0;
  const other = await holdElsewhere('b');
  const locks = lab.process('multi').multiLock(KEYS, { leaseMs: LEASE_MS, onLeaseLost: () => (losses += 1) });
  const acquired = lab.follow(locks.acquire());
  await lab.advance(1);
  lab.redis('DEL', 'a');
  await lab.advance(LEASE_MS);
  expect(locks.lost.aborted).toBe(true);

  await lab.done(other.release());

  await expect(lab.done(acquired)).rejects.toMatchObject(notHeld);
  expect([losses, taken()]).toEqual([1, []]);
});

test.each(KEYS)(
  'multi: when lock %s is no longer held the others are given up all the same, and it says so',
  async (key) => {
    const locks = lab.process('multi').multiLock(KEYS);
    await lab.done(locks.acquire());
    lab.redis('DEL', key);

    await expect(lab.done(locks.release())).rejects.toMatchObject(notHeld);

    expect(taken()).toEqual([]);
  },
);

test.each(KEYS)('multi: when lock %s is lost the holder is told, once', async (key) => {
  const losses: number[] = [];
  const locks = lab.process('multi').multiLock(KEYS, { leaseMs: LEASE_MS, onLeaseLost: () => losses.push(lab.now()) });
  await lab.done(locks.acquire());

  lab.redis('DEL', key);
  await lab.advance(LEASE_MS / 3);

  expect(locks.lost.reason).toMatchObject({ ...notHeld, message: expect.stringContaining(`lock ${key} `) });
  lab.redis('DEL', ...KEYS);
  await lab.advance(3 * LEASE_MS);
  expect(losses).toEqual([LEASE_MS / 3]);
  await expect(lab.done(locks.release())).rejects.toMatchObject(notHeld);
});

test('multi: each key has the fencing token of its own lock', async () => {
  for (const _time of [1, 2]) await lab.done((await holdElsewhere('b')).release());
  const locks = lab.process('multi').multiLock(KEYS);

  await lab.done(locks.acquire());

  expect([...KEYS, 'another key'].map(locks.fencingTokenOf)).toEqual(['1', '3', '1', undefined]);
});
