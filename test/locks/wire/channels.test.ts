import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { listen } from '../../../locks/drivers/channels.ts';
import { ownRedis } from '../own-redis.ts';

const { connect, key } = ownRedis();

test('channels: a listener learns that its subscription stands, then every message until it stops', async () => {
  const redis = await connected();
  const ear = openEar(redis, key());
  expect(await ear.next()).toBeUndefined();

  await redis.publish(key(), 'one');
  await redis.publish(key(), 'two');

  expect([await ear.next(), await ear.next()]).toEqual(['one', 'two']);
  ear.stop();
  await untilListeners(redis, key(), 0);
});

test('channels: a second listener learns it as well, and hears on when the first has stopped', async () => {
  const redis = await connected();
  const first = openEar(redis, key());
  await first.next();
  const second = openEar(redis, key());
  expect(await second.next()).toBeUndefined();

  first.stop();
  first.stop();
  await redis.publish(key(), 'one');

  expect(await second.next()).toBe('one');
  expect(first.heard).toEqual([]);
  second.stop();
});

test('channels: all channels of a client share one connection, which ends with the client', async () => {
  const watcher = connect();
  const redis = watcher.duplicate();
  await redis.ping();
  const ears = [openEar(redis, `${key()} a`), openEar(redis, `${key()} b`)];
  for (const ear of ears) await ear.next();
  const before = await subscribers(watcher);
  expect(before.filter((line) => line.includes(' sub=2 '))).toHaveLength(1);

  redis.disconnect();

  while ((await subscribers(watcher)).length === before.length);
  expect((await subscribers(watcher)).length).toBe(before.length - 1);
});

test('channels: a listener learns when its subscription breaks, and again when it stands anew', async () => {
  const redis = await connected();
  const ear = openEar(redis, key());
  await ear.next();

  await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect([await ear.next(), await ear.next()]).toEqual([undefined, undefined]);
  expect(await redis.publish(key(), 'one')).toBe(1);

  expect(await ear.next()).toBe('one');
  ear.stop();
});

test('channels: a listener learns when the connection of the client closes, and when it is back', async () => {
  const redis = await connected();
  const watcher = connect();
  const ear = openEar(redis, key());
  await ear.next();

  await watcher.call('CLIENT', 'KILL', 'ID', String(await redis.client('ID')));

  expect([await ear.next(), await ear.next()]).toEqual([undefined, undefined]);
  ear.stop();
});

test('channels: a client that has ended opens no connection', async () => {
  const watcher = connect();
  const redis = watcher.duplicate();
  await redis.ping();
  const ended = new Promise((resolve) => redis.once('end', resolve));
  redis.disconnect();
  await ended;
  const before = await watcher.client('LIST');

  listen(redis, key(), () => {})();
  await watcher.ping();

  expect(String(await watcher.client('LIST')).split('\n')).toHaveLength(String(before).split('\n').length);
});

async function connected() {
  const redis = connect();
  await redis.ping();
  return redis;
}

/** A listener whose messages can be awaited one by one; undefined stands for "look again". */
function openEar(redis: Redis, channel: string) {
  const heard: (string | undefined)[] = [];
  let onMessage = () => {};
  const stop = listen(redis, channel, (message) => {
    heard.push(message);
    onMessage();
  });
  return {
    heard,
    stop,
    async next() {
      if (heard.length === 0) await new Promise<void>((resolve) => (onMessage = resolve));
      return heard.shift();
    },
  };
}

async function untilListeners(redis: Redis, channel: string, count: number) {
  while (((await redis.call('PUBSUB', 'NUMSUB', channel)) as unknown[])[1] !== count);
}

async function subscribers(redis: Redis) {
  const list = String(await redis.client('LIST', 'TYPE', 'PUBSUB'));
  return list.split('\n').filter((line) => line !== '');
}
