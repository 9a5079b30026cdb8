import { expect, test } from 'vitest';
import { openLab } from './lab.ts';

const lab = openLab();

// That a failed try leaves nothing in memory is in 2-recursive-retry.test.ts.

test('3-spin: a holder that is killed leaves the key for good, and everyone waits', async () => {
  const [p, q] = lab.processes('3-spin', 2);
  await lab.done(p.lock({ leaseMs: 50 }).acquire());

  p.kill();
  const entered = lab.follow(q.lock({ retryDelayMs: 1_000 }).acquire());
  await lab.advance(100_000);

  expect([lab.redis('GET', 'lock'), lab.redis('PTTL', 'lock'), entered.state]).toEqual(['held', -1, 'pending']);
});
