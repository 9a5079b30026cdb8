// The clocks of the nodes differ: one is ahead by a lease, one runs fast.

import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';

const FAST_RATE = 1.1;

export const clock = ({ stage }: LockUnderTest) =>
  stage(async ({ process, pass }) => {
    const [p, ahead, fast] = [process(), process({ aheadMs: LEASE_MS }), process({ rate: FAST_RATE })];
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    await pass(LEASE_MS / 10);
    if (!(await ahead.holder('B, whose clock is ahead by a lease,', LEASE_MS).isKeptOut()))
      throw new Fault('A was inside, and B entered, whose clock is ahead by a lease.');
    if (!(await fast.holder('C, whose clock is fast,', LEASE_MS).isKeptOut()))
      throw new Fault('A was inside, and C entered, whose clock runs 10 % fast.');
    await a.leaves();
    return holds('Clocks that are ahead by a lease, or 10 % fast, let nobody in.');
  });
