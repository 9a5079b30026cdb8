import { expect, test } from 'vitest';
import { killRandomNodes } from './random-kills.ts';

test('a random node is killed every second under load: every unit is somewhere, and nothing is unexplained', async () => {
  const { kills, answers, exitCode, accounts } = await killRandomNodes({ seconds: 6, lock: '8-auto-renew' });

  expect(kills).toBeGreaterThanOrEqual(3);
  expect(answers['sold']).toBeGreaterThan(50);
  // Somebody was in the middle of it.
  expect(answers['NODE_UNAVAILABLE?']).toBeGreaterThan(0);
  expect({ exitCode, accounts }).toMatchObject({
    exitCode: 0,
    accounts: expect.stringContaining('Nothing is unexplained.'),
  });
  const [, ...row] =
    /│ 001 │(.*)│/
      .exec(accounts)?.[1]
      ?.split('│')
      .map((cell) => cell.trim()) ?? [];
  const [supply, inStock, unpaid, paid, refunded, inDoubt, unexplained, closed] = row.map(Number);
  expect(unexplained).toBe(0);
  expect(supply).toBe([inStock, unpaid, paid, refunded, inDoubt].reduce<number>((sum, units = 0) => sum + units, 0));
  for (const units of [paid, refunded, closed]) expect(units).toBeGreaterThan(0);
}, 90_000);
