import { expect, test } from 'vitest';
import { fitted, shorten, textWidth } from '../../../live/client/text-width.ts';

test('text width: it grows with the text, with its size and with its weight', () => {
  expect(textWidth('node-1', 18)).toBeLessThan(textWidth('node-10', 18));
  expect(textWidth('node-1', 18)).toBeLessThan(textWidth('node-1', 20));
  expect(textWidth('node-1', 18)).toBeLessThan(textWidth('node-1', 18, true));
  expect(textWidth('', 18)).toBe(0);
});

test('text width: what is too long is cut, what is not stays as it is', () => {
  expect(shorten('sale 1001 on node-1', 400, 18)).toBe('sale 1001 on node-1');
  const cut = shorten('0b7a6a58-3a0e-4c55-8d7b-2f5f4f6f7a11', 150, 18);
  expect(cut).toMatch(/^0b7a6a58.*…$/);
  expect(textWidth(cut, 18)).toBeLessThanOrEqual(150);
  expect(shorten('anything', 0, 18)).toBe('a…');
});

test('text width: what is too wide gets smaller first, then narrower, and is cut then', () => {
  const text = 'sale 1001 on node-1';
  const at = (size: number, share = 1) => fitted(text, share * textWidth(text, size, true), true);

  expect(at(18)).toEqual({ text, size: 18 });
  expect(at(16)).toEqual({ text, size: 16 });
  expect(at(14, 0.8)).toEqual({ text, size: 14, length: 0.8 * textWidth(text, 14, true) });
  expect(at(14, 0.5)).toEqual({ text: expect.stringMatching(/^sale .*…$/), size: 14 });
});
