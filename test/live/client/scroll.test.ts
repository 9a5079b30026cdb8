import { describe, expect, test } from 'vitest';
import { scrolledTo } from '../../../live/client/scroll.ts';

describe('scrolling to a stretch', () => {
  const window = { top: 100, height: 200 };

  test('does not scroll to a stretch that is in view', () => {
    expect(scrolledTo(window, { from: 100, until: 300 })).toBe(100);
  });

  test('scrolls just far enough, up or down', () => {
    expect(scrolledTo(window, { from: 40, until: 90 })).toBe(40);
    expect(scrolledTo(window, { from: 320, until: 370 })).toBe(170);
  });

  test('shows the beginning of a stretch that is longer than the window', () => {
    expect(scrolledTo(window, { from: 320, until: 900 })).toBe(320);
  });
});
