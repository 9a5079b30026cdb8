import { expect, test } from 'vitest';
import { killRandomNodes } from '../../../../loadtest/orders/random-kills.ts';

test('a random node is killed every second under load: every unit is somewhere, and the answers agree', async () => {
  const run = await killRandomNodes({ seconds: 6, lock: '8-auto-renew' });

  expect(run.kills).toBeGreaterThanOrEqual(3);
  expect(run.answers.sold).toBeGreaterThan(50);
  // Somebody was in the middle of it.
  expect(run.answers.inDoubt['NODE_UNAVAILABLE']).toBeGreaterThan(0);
  const accounts = expect.stringContaining('Nothing is unexplained.');
  expect(run).toMatchObject({ exitCode: 0, accounts, faults: [] });
  const { paid, refunded, restored } = run.holdings;
  for (const units of [paid, refunded, restored]) expect(units).toBeGreaterThan(0);
});
