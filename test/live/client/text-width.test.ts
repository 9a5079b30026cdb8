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

test('text width: what is too wide gets smaller first, and is cut then', () => {
  expect(fitted('free', 100)).toEqual({ text: 'free', size: 18 });
  const room = textWidth('sale 1001 on node-1', 16, true);
  expect(fitted('sale 1001 on node-1', room, true)).toEqual({ text: 'sale 1001 on node-1', size: 16 });
  expect(fitted('sale 1001 on node-1', 60, true)).toMatchObject({ text: expect.stringMatching(/…$/), size: 14 });
});
