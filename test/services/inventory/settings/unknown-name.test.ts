import { expect, test } from 'vitest';
import { refusalOf } from '../../../../services/inventory/settings/unknown-name.ts';

const names = ['0-none', '4-ttl', '5-owner-check', 'fenced', 'fenced-writes', 'crashed-holder', 'slow-holder'];

test.each([
  ['one letter is missing', 'fence', 'fenced'],
  ['two letters have changed places', 'fecned', 'fenced'],
  ['in capitals, without its number', 'TTL', '4-ttl'],
  ['a letter is missing, and its number', 'owner-chek', '5-owner-check'],
  ['a part of two names', 'holder', 'crashed-holder or slow-holder'],
])('%s: %s, and the name that is near is asked for', (_what, typed, near) => {
  expect(refusalOf('no such lock', typed, names)).toBe(`no such lock. Did you mean ${near}?`);
});

test.each(['', '9', 'xyz', 'something-else'])('nothing is near "%s": what it may be', (typed) => {
  expect(refusalOf('no such lock', typed, names, 'a name')).toBe('no such lock: it must be a name');
});
