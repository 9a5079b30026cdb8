import { expect, test } from 'vitest';
import { openValkey, ReplyError } from '../../virtual/valkey.ts';

const NOBODY = 0;

test('valkey: its clock stands still until it is set, and may go back', async () => {
  const valkey = await openValkey();
  const timeAt = (ms: number) => {
    valkey.setTime(ms);
    return valkey.run(NOBODY, ['TIME']).reply;
  };

  const first = timeAt(0);

  expect(valkey.run(NOBODY, ['TIME']).reply).toEqual(first);
  expect(timeAt(1_234)).not.toEqual(first);
  expect(timeAt(0)).toEqual(first);
});

test('valkey: each kind of reply', async () => {
  const valkey = await openValkey();
  const ask = (...command: (string | number)[]) => valkey.run(NOBODY, command).reply;

  expect(ask('SET', 'key', 'value')).toBe('OK');
  expect(ask('GET', 'key')).toBe('value');
  expect(ask('GET', 'none')).toBeNull();
  expect(ask('INCR', 'count')).toBe(1);
  expect(ask('LRANGE', 'none', 0, -1)).toEqual([]);
  expect(ask('EVAL', "return { 1, { 'two', false } }", 0)).toEqual([1, ['two', null]]);
  expect(ask('INCR', 'key')).toBeInstanceOf(ReplyError);
  expect(ask('INCR', 'key')).toMatchObject({ message: expect.stringMatching(/^ERR value is not an integer/) });
});

test('valkey: every byte comes back as it was sent', async () => {
  const valkey = await openValkey();
  const bytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');

  valkey.run(NOBODY, ['SET', 'key', bytes]);

  expect(valkey.run(NOBODY, ['GET', 'key']).reply).toBe(bytes);
  expect(valkey.run(NOBODY, ['STRLEN', 'key']).reply).toBe(256);
});

test('valkey: who listens hears a message, in the order of the publications, and nobody else does', async () => {
  const valkey = await openValkey();
  const [one, other, elsewhere] = [1, 2, 3];
  valkey.run(one, ['SUBSCRIBE', 'news']);
  valkey.run(other, ['SUBSCRIBE', 'news']);
  valkey.run(elsewhere, ['SUBSCRIBE', 'weather']);

  const both = "redis.call('PUBLISH', 'news', 'first') return redis.call('PUBLISH', 'news', 'second')";
  const { reply, messages } = valkey.run(NOBODY, ['EVAL', both, 0]);

  expect(reply).toBe(2);
  const heardBy = (connection: number) => messages.filter(({ to }) => to === connection).map(({ message }) => message);
  const news = [
    ['message', 'news', 'first'],
    ['message', 'news', 'second'],
  ];
  expect([heardBy(one), heardBy(other), heardBy(elsewhere)]).toEqual([news, news, []]);
});

test('valkey: a connection that is closed listens no more', async () => {
  const valkey = await openValkey();
  valkey.run(1, ['SUBSCRIBE', 'news']);

  valkey.close(1);

  expect(valkey.run(NOBODY, ['PUBLISH', 'news', 'late'])).toEqual({ reply: 0, messages: [] });
});

test('valkey: a key ends at exactly its millisecond', async () => {
  const valkey = await openValkey();
  valkey.run(NOBODY, ['SET', 'lock', 'A', 'PX', 1_000]);
  const isThereAt = (ms: number) => {
    valkey.setTime(ms);
    return valkey.run(NOBODY, ['EXISTS', 'lock']).reply;
  };

  expect([isThereAt(999), isThereAt(1_000), isThereAt(1_001)]).toEqual([1, 1, 0]);
});
