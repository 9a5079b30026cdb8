import { expect, test, vi } from 'vitest';
import { createLock } from '../../../locks/beyond/fair.ts';
import { listen } from '../../../locks/drivers/channels.ts';
import { processId } from '../../../locks/drivers/process-id.ts';
import { lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key } = ownRedis();

/** How long a lease lasts that no test waits for. */
const LONG_MS = 30_000;

test('fair: a release that is heard while the answer to the ask is on its way is not missed', async () => {
  const watch = watchClient(connect());
  const a = createLock(lockOptions({ redis: connect(), key: key(), leaseMs: LONG_MS }));
  const b = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: LONG_MS }));
  const channel = `${key()}:${processId(watch.client)}`;
  let isReleased = () => {};
  const released = new Promise<void>((resolve) => (isReleased = resolve));
  const stop = listen(watch.client, channel, (first) => first && isReleased());
  // A wake without a message does not say that the subscription stands.
  await vi.waitFor(async () => expect(await watch.client.pubsub('NUMSUB', channel)).toEqual([channel, 1]), 10_000);
  await a.acquire();
  const failedAsk = watch.holdAnswer('evalsha');
  const startedAt = performance.now();

  const entered = b.acquire();
  await failedAsk.reached;
  await a.release();
  await released;
  failedAsk.letGo();
  await entered;

  expect(performance.now() - startedAt).toBeLessThan(LONG_MS / 3);
  await b.release();
  stop();
});
