import { expect, test } from 'vitest';
import { strategies } from '../../../locks/index.ts';
import type { CreateLock, RedisClient } from '../../../locks/lock.ts';
import { connectStore } from '../../../services/inventory/store.ts';
import { lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';

const { url, connect, key, signal } = ownRedis();

test.each(['blocking', 'fair', 'cohort'])(
  '%s: all waiters are refused when Redis stands still, and another one enters when it is back',
  async (name) => {
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
    const isListening = async () => ((await connect().call('PUBSUB', 'CHANNELS', `${key()}:*`)) as string[]).length > 0;
    await until(isListening);

    signal('SIGSTOP');
    const messages = await Promise.all(ends);
    signal('SIGCONT');

    for (const message of messages) expect(message).toMatch(/Stream isn't writeable|closed|max retries/i);
    // Those of fair have a place each, which they give up. The queue of cohort has nodes, which hear of a release or not.
    if (name === 'fair') await until(async () => (await connect().exists(`${key()}:queue`)) === 0);
    await holder.release();
    const next = newLock(connect());
    await next.acquire();
    await next.release();
    await connect().del(`${key()}:queue`);
    redis.disconnect();
  },
);
