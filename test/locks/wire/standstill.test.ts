import { expect, test } from 'vitest';
import { strategies } from '../../../locks/index.ts';
import type { CreateLock, RedisClient } from '../../../locks/lock.ts';
import { connectStore } from '../../../services/inventory/store.ts';
import { lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';

const { url, connect, key, signal } = ownRedis();

/** How many channels of this lock somebody listens to. */
const listening = async () => ((await connect().call('PUBSUB', 'CHANNELS', `${key()}:*`)) as string[]).length;

test.each([
  ['blocking', 0],
  ['fair', 20],
  ['cohort', 1],
])(
  '%s: all waiters are refused when Redis stands still, and another one enters when it is back',
  async (name, queued) => {
    const { createLock } = strategies[name] as { createLock: CreateLock };
    const { redis, back } = connectStore(url());
    await back();
    const newLock = (client: RedisClient) => createLock(lockOptions({ redis: client, key: key() }));
    const holder = newLock(connect());
    await holder.acquire();
    const ends = Array.from({ length: 20 }, () =>
      newLock(redis)
        .acquire()
        .catch((error: Error) => error.message),
    );
    // Each of fair has a place in a queue in Redis, and each node of cohort.
    await until(async () => (await connect().llen(`${key()}:queue`)) === queued);
    await until(async () => (await listening()) > 0);

    signal('SIGSTOP');
    const messages = await Promise.all(ends);
    signal('SIGCONT');

    for (const message of messages) expect(message).toMatch(/Stream isn't writeable|closed|max retries/i);
    // Nobody listens any more, so nothing is handed to those who have gone.
    await until(async () => (await listening()) === 0);
    // Those of fair give up their places.
    if (name === 'fair') await until(async () => (await connect().exists(`${key()}:queue`)) === 0);
    await holder.release();
    const next = newLock(connect());
    await next.acquire();
    await next.release();
    await connect().del(`${key()}:queue`);
    redis.disconnect();
  },
);
