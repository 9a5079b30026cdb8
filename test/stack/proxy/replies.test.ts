import { describe, expect, test } from 'vitest';
import type { Returned } from '../../../simulation/events.ts';
import { type Reply, readReplies } from '../../../stack/proxy/replies.ts';
import { split } from './own-links.ts';

/** Each with what it says, and as a value. */
const replies: [what: string, bytes: string, text: string, returned: Returned][] = [
  ['a simple string', '+OK\r\n', 'OK', 'OK'],
  ['a number', ':-12\r\n', '-12', -12],
  ['an error', '-WRONGTYPE no string\r\n', 'error WRONGTYPE no string', 'WRONGTYPE no string'],
  ['an empty string', '$0\r\n\r\n', '', ''],
  ['a string with a line break', '$6\r\na\r\nb:1\r\n', 'a\r\nb:1', 'a\r\nb:1'],
  ['a string of several bytes a character', '$6\r\n库存\r\n', '库存', '库存'],
  ['no string, as RESP2 has it', '$-1\r\n', 'nil', null],
  ['no array, as RESP2 has it', '*-1\r\n', 'nil', null],
  ['nothing, as RESP3 has it', '_\r\n', 'nil', null],
  ['an empty array', '*0\r\n', '[]', []],
  ['arrays in an array', '*3\r\n*2\r\n:1\r\n$-1\r\n*0\r\n$1\r\na\r\n', '[[1 nil] [] a]', [[1, null], [], 'a']],
  ['a set', '~2\r\n:1\r\n:2\r\n', '[1 2]', [1, 2]],
  ['a map', '%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n', '[a 1 b [2]]', ['a', 1, 'b', [2]]],
  ['a boolean', '#t\r\n', 't', 't'],
  ['a double', ',-1.5\r\n', '-1.5', '-1.5'],
  ['a big number', '(123456789012345678901\r\n', '123456789012345678901', '123456789012345678901'],
  ['a verbatim string', '=7\r\ntxt:abc\r\n', 'txt:abc', 'txt:abc'],
  ['a long error', '!5\r\nERR a\r\n', 'ERR a', 'ERR a'],
  ['a reply of which something is said', '|1\r\n+ttl\r\n:3\r\n$1\r\na\r\n', 'a', 'a'],
  ['an array, and of its member something is said', '*2\r\n|1\r\n+ttl\r\n:3\r\n:1\r\n:2\r\n', '[1 2]', [1, 2]],
];
const push = '>3\r\n+message\r\n+news\r\n+hello\r\n';

/** What is read of these bytes when they come in chunks of these lengths. */
function readOf(bytes: Buffer, lengths: number[] = []): Reply[] {
  const read: Reply[] = [];
  const take = readReplies((reply) => read.push(reply));
  for (const chunk of split(bytes, lengths)) take(chunk);
  return read;
}

describe('replies', () => {
  test.each(replies)('%s: what it says, when its last byte has come', (_what, reply, text, returned) => {
    const bytes = Buffer.from(reply);

    expect(readOf(bytes)).toEqual([{ bytes, isPush: false, text, returned }]);
    expect(readOf(bytes.subarray(0, -1), [1])).toEqual([]);
  });

  test.each([[[]], [[1]], [[2, 3]], [[7, 1, 1]]])('one after the other, in chunks of %j: the same', (lengths) => {
    const all = [...replies.map(([, bytes]) => bytes), push];
    const read = readOf(Buffer.from(all.join('')), lengths);

    expect(read.map(({ bytes }) => String(bytes))).toEqual(all);
    expect(read.map(({ text }) => text)).toEqual([...replies.map(([, , text]) => text), '[message news hello]']);
    expect(read.map(({ isPush }) => isPush)).toEqual([...replies.map(() => false), true]);
  });
});
