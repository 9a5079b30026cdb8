import { expect, test } from 'vitest';
import { createLock as fair } from '../../../locks/beyond/fair.ts';
import { strategies } from '../../../locks/index.ts';
import type { CreateLock } from '../../../locks/lock.ts';
import { connectStore } from '../../../services/inventory/servers/store.ts';
import { lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { until } from '../until.ts';

const { url, connect, key, signal } = ownRedis();

// A real Redis. What locks share in a process they share by its client, so each client here is a process of its own.

/** Longer than the limit of a test: nobody enters because a lease has ended. */
const FOR_EVER_MS = 3_600_000;

function lockOf(stage: string) {
  const { createLock } = strategies[stage] as { createLock: CreateLock };
  return createLock(lockOptions({ redis: connect(), key: key(), leaseMs: FOR_EVER_MS }));
}
/** How many channels of this lock somebody listens to. */
const listening = async () => ((await connect().call('PUBSUB', 'CHANNELS', `${key()}:*`)) as string[]).length;

test.each(['blocking', 'fair', 'cohort'])(
  'processes: a release of %s in one process wakes the waiter of another one',
  async (stage) => {
    const [holder, next] = [lockOf(stage), lockOf(stage)];
    await holder.acquire();
    const entered = next.acquire();
    await until(async () => (await listening()) > 0);

    await holder.release();

    await entered;
    await next.release();
  },
);

test('processes: all waiters are refused when Redis stands still, and another one enters when it is back', async () => {
  const { redis, back } = connectStore(url());
  await back();
  const newLock = (client = redis) => fair(lockOptions({ redis: client, key: key() }));
  const holder = newLock(connect());
  await holder.acquire();
  const waits = Array.from({ length: 20 }, () => newLock().acquire());
  const ends = waits.map((wait) => wait.catch((error: Error) => error.message));
  // Each has a place in a queue in Redis.
  await until(async () => (await connect().llen(`${key()}:queue`)) === ends.length);

  signal('SIGSTOP');
  const messages = await Promise.all(ends);
  signal('SIGCONT');

  for (const message of messages) expect(message).toMatch(/Stream isn't writeable|closed|max retries/i);
  // They give up their places, and nobody listens any more, so nothing is handed to those who have gone.
  await until(async () => (await connect().exists(`${key()}:queue`)) === 0);
  await until(async () => (await listening()) === 0);
  await holder.release();
  const next = newLock(connect());
  await next.acquire();
  await next.release();
  redis.disconnect();
});
