import { expect, test } from 'vitest';
import { aborted, once, openLab } from '../lab.ts';

const lab = openLab();

// What the stock refuses by the token is in lua/returns.txt, and what that prevents is in the drills crossed-write and early-read.

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
