import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSameCommand, isSameReply } from '../../../loadtest/prove/alike.ts';

const uuid = '0d9f8a52-5a4e-4b0e-9c55-6f2f5f0e8a11';
const text = "return redis.call('DEL', KEYS[1])";
const sha1 = createHash('sha1').update(text).digest('hex');

const commands: [string[], (string | number)[], boolean][] = [
  [['SET', 'stock', '9'], ['SET', 'stock', 9], true],
  [['SET', 'stock', '9'], ['SET', 'stock', 8], false],
  [['SET', 'lock', 'A:1'], ['SET', 'lock', 'B:1'], false],
  // A random uuid, a lease a little shorter, and a script by its hash.
  [['SUBSCRIBE', `lock:${uuid}`], ['SUBSCRIBE', 'lock:A-7'], true],
  [['PEXPIRE', 'lock', '871.5'], ['PEXPIRE', 'lock', 900], true],
  [['EVALSHA', sha1, '1', 'lock'], ['EVAL', text, 1, 'lock'], true],
  [['EVALSHA', sha1, '1', 'lock'], ['EVAL', `${text} `, 1, 'lock'], false],
];

test('alike: commands', () => {
  expect(commands.filter(([real, searched, isSame]) => isSameCommand(real, searched) !== isSame)).toEqual([]);
});

const replies: [string, string, boolean][] = [
  // What is left of a lease; one that is over, and one that has no end.
  ['-873', '-900', true],
  ['-1', '-900', false],
  ['871', '-900', false],
  ['1', '"1"', false],
  ['["10","A:1"]', '["10","A:1"]', true],
  ['["10","A:1"]', '["10","B:1"]', false],
  // The words of another version.
  ['NOSCRIPT No matching script. Please use EVAL.', 'NOSCRIPT No matching script.', true],
  ['WRONGTYPE Operation against a key', 'ERR unknown command', false],
];

test('alike: replies; what a client makes of a subscription is not compared', () => {
  expect(replies.filter(([real, searched, isSame]) => isSameReply('EVALSHA', real, searched) !== isSame)).toEqual([]);
  expect(isSameReply('SUBSCRIBE', '1', '["subscribe","lock:released",1]')).toBe(true);
});
