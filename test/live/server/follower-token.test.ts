import { expect, test } from 'vitest';
import { createTokenGate, makeFollowerToken } from '../../../live/server/follower-token.ts';

const TOKEN = 'k3v-92m-fxp';

test('a token is short enough to type, has no look-alikes, and is another one each time', () => {
  const tokens = Array.from({ length: 2_000 }, makeFollowerToken);

  expect(tokens.filter((token) => !/^([2-9a-hjkmnp-z]{3}-){2}[2-9a-hjkmnp-z]{3}$/.test(token))).toEqual([]);
  expect(new Set(tokens).size).toBe(2_000);
  const letters = new Set(tokens.join('').replaceAll('-', ''));
  expect(letters.size).toBe(31);
  expect(9 * Math.log2(letters.size)).toBeGreaterThan(40);
});

test.each([TOKEN, 'K3V-92M-FXP', 'k3v92mfxp', ' K3v 92m fxp'])('%j is the token', (shown) => {
  expect(createTokenGate(TOKEN).look(shown, false)).toBe('right');
});

test.each(['', '-', 'k3v-92m-fx', 'k3v-92m-fxpp', 'k3v-92m-fxq', `${TOKEN}${TOKEN}`])('%j is not', (shown) => {
  expect(createTokenGate(TOKEN).look(shown, false)).toBe('wrong');
});

test('20 wrong ones a second are looked at: then nobody who is new gets in, whatever is shown, until it goes on', () => {
  let now = 0;
  const gate = createTokenGate(TOKEN, () => now);
  const guess = (count: number) => gate.look(`guess ${count}`, false);
  const answers = Array.from({ length: 30 }, (_, count) => guess(count));

  expect(answers).toEqual([...Array(20).fill('wrong'), ...Array(10).fill('later')]);
  expect(gate.look(TOKEN, false)).toBe('later');
  expect(gate.look(TOKEN, true)).toBe('right');
  now += 50;
  expect(gate.look(TOKEN, false)).toBe('right');

  now += 3_600_000;
  expect(
    Array.from({ length: 30 }, (_, count) => guess(count + 100)).filter((answer) => answer === 'wrong').length,
  ).toBe(20);
});

test('tabs with the token of yesterday, again and again, keep nobody out', () => {
  const gate = createTokenGate(TOKEN, () => 0);

  for (let count = 0; count < 1_000; count += 1) expect(gate.look('old-one-999', false)).toBe('wrong');

  expect(gate.look(TOKEN, false)).toBe('right');
});
