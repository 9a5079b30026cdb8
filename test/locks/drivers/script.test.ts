import { expect, test } from 'vitest';
import { readScript } from '../../../locks/drivers/script.ts';
import { ownRedis } from '../own-redis.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key } = ownRedis();
const releaseIfOwner = readScript('release-if-owner');

test('script: a script that Redis knows is sent as its hash', async () => {
  const watch = watchClient(connect());

  expect(await releaseIfOwner(watch.client, [key()], ['ours'])).toBe(0);

  expect(watch.sent).toEqual(['evalsha']);
});

test('script: a script that Redis has forgotten is sent as its text, once', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  await redis.script('FLUSH');
  await redis.set(key(), 'ours');

  expect(await releaseIfOwner(watch.client, [key()], ['ours'])).toBe(1);
  expect(await releaseIfOwner(watch.client, [key()], ['ours'])).toBe(0);

  expect(watch.sent).toEqual(['evalsha', 'eval', 'evalsha']);
});

test('script: an error of the script is passed on, and it is not sent again', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  await redis.rpush(key(), 'a list is no lock');

  await expect(releaseIfOwner(watch.client, [key()], ['ours'])).rejects.toThrow('WRONGTYPE');

  expect(watch.sent).toEqual(['evalsha']);
  await redis.del(key());
});

test('script: an error of the connection is passed on, and it is not sent again', async () => {
  const watch = watchClient(connect());
  const noAnswer = new Error('Connection is closed.');
  watch.fail('evalsha', noAnswer);

  await expect(releaseIfOwner(watch.client, [key()], ['ours'])).rejects.toBe(noAnswer);

  expect(watch.sent).toEqual(['evalsha']);
});

test('script: an error of the second sending is passed on', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const noAnswer = new Error('Connection is closed.');
  await redis.script('FLUSH');
  watch.fail('eval', noAnswer);

  await expect(releaseIfOwner(watch.client, [key()], ['ours'])).rejects.toBe(noAnswer);
});

test('script: a script that does not exist is an error when it is read, not when it is run', () => {
  expect(() => readScript('no-such-script')).toThrow('no-such-script.lua');
});
