import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isSameCommand, isSameReply } from '../../../loadtest/prove/alike.ts';

const uuid = '0d9f8a52-5a4e-4b0e-9c55-6f2f5f0e8a11';
const text = "return redis.call('DEL', KEYS[1])";
const sha1 = createHash('sha1').update(text).digest('hex');

describe('alike: commands', () => {
  test.each<[string, string[], (string | number)[], boolean]>([
    ['a number and its text', ['SET', 'stock', '9'], ['SET', 'stock', 9], true],
    ['another stock', ['SET', 'stock', '9'], ['SET', 'stock', 8], false],
    ['another owner', ['SET', 'lock', 'A:1'], ['SET', 'lock', 'B:1'], false],
    ['one part more', ['SET', 'lock', 'A:1', 'NX'], ['SET', 'lock', 'A:1'], false],
    ['a random uuid', ['SUBSCRIBE', `lock:${uuid}`], ['SUBSCRIBE', 'lock:A-7'], true],
    ['a lease a little shorter', ['PEXPIRE', 'lock', '871.5'], ['PEXPIRE', 'lock', 900], true],
    ['a script by its hash', ['EVALSHA', sha1, '1', 'lock'], ['EVAL', text, 1, 'lock'], true],
    ['another script', ['EVALSHA', sha1, '1', 'lock'], ['EVAL', `${text} `, 1, 'lock'], false],
  ])('%s', (_what, real, searched, isSame) => {
    expect(isSameCommand(real, searched)).toBe(isSame);
  });
});

describe('alike: replies', () => {
  test.each<[string, string, string, boolean]>([
    ['what is left of a lease', '-873', '-900', true],
    ['a lease that is over', '-1', '-900', false],
    ['a lease, and one that has no end', '871', '-900', false],
    ['another token', '"3"', '"2"', false],
    ['a number, and its text', '1', '"1"', false],
    ['a list', '["10","A:1"]', '["10","A:1"]', true],
    ['another list', '["10","A:1"]', '["10","B:1"]', false],
    [
      'the words of another version',
      'NOSCRIPT No matching script. Please use EVAL.',
      'NOSCRIPT No matching script.',
      true,
    ],
    ['another error', 'WRONGTYPE Operation against a key', 'ERR unknown command', false],
    ['an error, and none', 'null', 'ERR unknown command', false],
  ])('%s', (_what, real, searched, isSame) => {
    expect(isSameReply('EVALSHA', real, searched)).toBe(isSame);
  });

  test('what a client makes of a subscription is not compared', () => {
    expect(isSameReply('SUBSCRIBE', '1', '["subscribe","lock:released",1]')).toBe(true);
  });
});
