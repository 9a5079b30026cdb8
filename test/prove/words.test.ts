import { expect, test } from 'vitest';
import { readable } from '../../prove/words.ts';

test.each([
  [['SET', 'lock', 'held', 'NX'], 'SET lock held NX'],
  [['EVALSHA', 'unknown', 1, 'lock', 'A:1'], 'a script of its own of lock with A:1'],
  [['EVAL', 'return 1', 2, 'lock', 'stock', 'A:1', 5], 'a script of its own, sent in full, of lock, stock with A:1, 5'],
  [['EVAL', 'return 1', 0], 'a script of its own, sent in full'],
  [
    ['EVAL', 'return 1', 'lock', 'A:1'],
    'a script of its own, sent in full, without the number of its keys, with lock, A:1',
  ],
])('words: a command as people read it: %j', (command, words) => {
  expect(readable(command)).toBe(words);
});
