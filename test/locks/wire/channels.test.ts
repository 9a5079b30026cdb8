import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { listen } from '../../../locks/drivers/channels.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';

const { connect, key } = ownRedis();

async function connected() {
  const redis = connect();
  await redis.ping();
  return redis;
}

/** A listener whose messages can be awaited one by one; undefined stands for "look again". */
function openEar(redis: Redis, channel = key()) {
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

test('channels: a listener learns that its subscription stands, and hears each message until it stops', async () => {
  const redis = await connected();
  const [first, second] = [openEar(redis), openEar(redis)];
  expect([await first.next(), await second.next()]).toEqual([undefined, undefined]);

  await redis.publish(key(), 'one');
  expect([await first.next(), await second.next()]).toEqual(['one', 'one']);
  first.stop();
  first.stop();
  await redis.publish(key(), 'two');

  expect(await second.next()).toBe('two');
  expect(first.heard).toEqual([]);
  second.stop();
  await until(async () => (await redis.publish(key(), 'three')) === 0);
});

test.each(['its subscription', 'the client'])(
  'channels: a listener learns when the connection of %s breaks, and again when it is back',
  async (which) => {
    const redis = await connected();
    const ear = openEar(redis);
    await ear.next();

    const those = which === 'the client' ? ['ID', String(await redis.client('ID'))] : ['TYPE', 'pubsub'];
    await connect().call('CLIENT', 'KILL', ...those);

    expect([await ear.next(), await ear.next()]).toEqual([undefined, undefined]);
    await connect().publish(key(), 'one');
    expect(await ear.next()).toBe('one');
    ear.stop();
  },
);
