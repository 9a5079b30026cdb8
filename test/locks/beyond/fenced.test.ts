import { expect, test } from 'vitest';
import type { Lock } from '../../../locks/lock.ts';
import { aborted, once, openLab, scripts } from '../lab.ts';

const lab = openLab();

const withToken = (script: string, { fencingToken = '0' }: Lock, ...args: number[]) =>
  lab.redis('EVAL', scripts[script] ?? '', 2, 'stock', 'fence', ...args, 'fenced', fencingToken);
/** The stock, read with the token of this holder; -1 when it is refused. */
const read = (lock: Lock) => withToken('read-if-newest', lock);
/** 1 when the stock was written with the token of this holder, 0 when it was refused. */
const write = (stock: number, lock: Lock) => withToken('write-if-newest', lock, stock);

/** A holder that stood still until its lease was over, and the next one. The stock is 100. */
async function startTwo(name: string) {
  const [p, q] = lab.processes(name, 2);
  const [paused, next] = [p.lock({ leaseMs: 900, onLeaseLost() {} }), q.lock({ leaseMs: 30_000 })];
  lab.redis('SET', 'stock', 100);
  await lab.done(paused.acquire());
  p.freeze();
  await lab.done(next.acquire());
  p.thaw();
  return { paused, next };
}

test.each(['fenced', 'fenced-writes'])(
  '%s: the token is made in the command that takes the lock, not by a try that fails',
  async (name) => {
    const [p, q] = lab.processes(name, 2);
    const [a, b] = [p.lock(), q.lock()];
    await lab.done(a.acquire());

    await expect(lab.done(b.acquire(once))).rejects.toMatchObject(aborted);

    expect(p.sent).toEqual(['acquire-fenced']);
    expect([a.fencingToken, b.fencingToken, lab.redis('GET', 'lock:tokens')]).toEqual(['1', undefined, '1']);
  },
);

test('fenced: a holder whose lease ran out is refused once the next one has read, though nobody has written', async () => {
  const { paused, next } = await startTwo('fenced');

  expect([read(paused), read(next)]).toEqual(['100', '100']);

  expect([write(99, paused), read(paused), write(99, next)]).toEqual([0, -1, 1]);
});

test('fenced-writes: the late write is taken between the read and the write of the next holder, which undoes it', async () => {
  const { paused, next } = await startTwo('fenced-writes');
  const readByBoth = Number(lab.redis('GET', 'stock'));

  expect([write(readByBoth - 1, paused), write(readByBoth - 1, next)]).toEqual([1, 1]);

  expect(lab.redis('GET', 'stock')).toBe('99');
});
