import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLock } from '../../../locks/beyond/fair.ts';
import { listen } from '../../../locks/drivers/channels.ts';
import { processId } from '../../../locks/drivers/process-id.ts';
import type { Lock } from '../../../locks/lock.ts';
import { lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key } = ownRedis();

/** How long a lease lasts that no test waits for. */
const LONG_MS = 30_000;

test('fair: a release that is heard while the answer to the ask is on its way is not missed', async () => {
  const { watch, heard } = await listening();
  const a = createLock(lockOptions({ redis: connect(), key: key(), leaseMs: LONG_MS }));
  const b = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: LONG_MS }));
  await a.acquire();
  const failedAsk = watch.holdAnswer('evalsha');
  const startedAt = performance.now();

  const entered = b.acquire();
  await failedAsk.reached;
  await a.release();
  await heard;
  failedAsk.letGo();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
  await b.release();
});

test('fair: a waiter that learns too late that it was its turn does not enter beside another one', async () => {
  const leaseMs = 600;
  const redis = connect();
  const { watch, heard } = await listening();
  const [a, b, c] = [redis, watch.client, redis].map((client) =>
    createLock(lockOptions({ redis: client, key: key(), leaseMs })),
  ) as [Lock, Lock, Lock];
  let isInside = false;
  await a.acquire();
  const failedAsk = watch.holdAnswer('evalsha');
  const entered = b.acquire().then(() => (isInside = true));
  await failedAsk.reached;
  const later = c.acquire();
  await untilWaiting(redis, 2);
  await a.release();
  await heard;
  // The lease of b is over.
  await later;

  failedAsk.letGo();
  await untilWaiting(redis, 1);
  // It asks again a third of a lease later: news, but not that it is its turn.
  await sleep(leaseMs);
  expect(isInside).toBe(false);
  await c.release();

  await entered;
  await b.release();
  await redis.del(`${key()}:suspect`);
});

/** A client that listens to the channel of its waiters. `heard` resolves when one of them was told that it is its turn. */
async function listening() {
  const watch = watchClient(connect());
  const channel = `${key()}:${processId(watch.client)}`;
  let hear = () => {};
  const heard = new Promise<void>((resolve) => (hear = resolve));
  onTestFinished(listen(watch.client, channel, (name) => name && hear()));
  // A wake without a message does not say that the subscription stands.
  await vi.waitFor(async () => expect(await watch.client.pubsub('NUMSUB', channel)).toEqual([channel, 1]), 10_000);
  return { watch, heard };
}

async function untilWaiting(redis: Redis, count: number) {
  while ((await redis.llen(`${key()}:queue`)) !== count);
}
