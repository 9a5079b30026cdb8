import { expect, test } from 'vitest';
import { readPromises } from '../../../loadtest/evidence/promises.ts';

test.each([
  [undefined, {}],
  [{}, {}],
  [
    { reentry: true, renewal: false, fencing: true, masters: true },
    { reentry: true, renewal: false, fencing: true, masters: true },
  ],
  [{ fairness: 'bounded' }, { fairness: 'bounded' }],
  [{ fairness: true }, { fairness: 'order' }],
  [{ fairness: false }, { fairness: undefined }],
])('promises: %j is read', (exported, promises) => {
  expect(readPromises(exported)).toEqual(promises);
});

test.each([
  [{ re_entry: true }, /^its promises can't be read: .*re_entry/],
  [{ fairness: 'sometimes' }, /^its promises\.fairness can't be read/],
  [{ fencing: 'yes' }, /^its promises\.fencing can't be read/],
  ['all', /^its promises can't be read/],
])('promises: %j is refused', (exported, sentence) => {
  expect(() => readPromises(exported)).toThrow(sentence);
});
