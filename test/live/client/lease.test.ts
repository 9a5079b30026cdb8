import { expect, test } from 'vitest';
import { inSteps, leaseLeft, leaseShare } from '../../../live/client/lease.ts';

test('lease: it runs out from the moment at which it was seen, and no further', () => {
  expect(leaseLeft({ leftMs: 800 }, 1_000, 1_000)).toBe(800);
  expect(leaseLeft({ leftMs: 800 }, 1_000, 1_300)).toBe(500);
  expect(leaseLeft({ leftMs: 800 }, 1_000, 9_000)).toBe(0);
});

test('lease: a moment before it was seen counts as the moment at which it was seen', () => {
  expect(leaseLeft({ leftMs: 800 }, 1_000, 900)).toBe(800);
});

test('lease: without an end nothing is left of it, and all of it', () => {
  expect(leaseLeft({}, 1_000, 5_000)).toBeUndefined();
  expect(leaseShare(undefined, 1_000)).toBe(1);
  expect(inSteps(undefined)).toBeUndefined();
});

test('lease: its share is never more than the whole', () => {
  expect(leaseShare(250, 1_000)).toBe(0.25);
  expect(leaseShare(5_000, 1_000)).toBe(1);
  expect(leaseShare(0, 1_000)).toBe(0);
  expect(leaseShare(10, 0)).toBe(0);
});

test('lease: where nothing may move it goes down by whole seconds', () => {
  expect([2_900, 2_001, 2_000, 1, 0].map(inSteps)).toEqual([3_000, 3_000, 2_000, 1_000, 0]);
});
