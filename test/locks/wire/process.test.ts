import { expect, test } from 'vitest';
import { strategies } from '../../../locks/index.ts';
import type { CreateLock } from '../../../locks/lock.ts';
import { aborted, lockOptions } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { startHolder } from '../start-holder.ts';

const { url, connect, key } = ownRedis();

// Two real processes and a real Redis. What the locks do in them is in the tests of the virtual lab.

/** A lock in this process. */
function lockOf(stage: string) {
  const { createLock } = strategies[stage] as { createLock: CreateLock };
  return createLock(lockOptions({ redis: connect(), key: key() }));
}

test('processes: a killed holder of 3-spin leaves a key without an end', async () => {
  const holder = await startHolder({ stage: '3-spin', url: url(), key: key(), leaseMs: 50 });

  await holder.kill();

  expect(await connect().pttl(key())).toBe(-1);
  await expect(lockOf('3-spin').acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await connect().del(key());
});

test.each(['4-ttl', '8-auto-renew', 'fair', 'cohort'])(
  'processes: the lease of a killed holder of %s ends, and a waiter enters',
  async (stage) => {
    const holder = await startHolder({ stage, url: url(), key: key(), leaseMs: 600 });
    const next = lockOf(stage);
    const entered = next.acquire();

    await holder.kill();
    await entered;

    expect(holder.said).toEqual(['asking', 'entered']);
    await next.release();
    await connect().del(`${key()}:suspect`);
  },
);

test.each(['8-auto-renew', 'cohort'])(
  'processes: a stopped holder of %s cannot renew, and wakes up believing it still holds',
  async (stage) => {
    const holder = await startHolder({ stage, url: url(), key: key(), leaseMs: 300 });
    const next = lockOf(stage);

    holder.pause();
    await next.acquire();
    const saidBefore = [...holder.said];
    holder.resume();
    holder.wake();
    await holder.untilSaid('LOCK_NOT_HELD');

    expect(saidBefore).toEqual(['asking', 'entered']);
    expect(holder.said).toContain('wrote');
    await next.release();
  },
);

/** Longer than the limit of a test: nobody enters because a lease has ended. */
const FOR_EVER_MS = 3_600_000;

test.each(['blocking', 'fair', 'cohort'])(
  'processes: a release of %s in one process wakes the waiter of another one',
  async (stage) => {
    const redis = connect();
    const holder = await startHolder({ stage, url: url(), key: key(), leaseMs: FOR_EVER_MS });
    const next = lockOf(stage);
    const entered = next.acquire();
    const isListening = async () => ((await redis.call('PUBSUB', 'CHANNELS', `${key()}:*`)) as string[]).length > 0;
    while (!(await isListening()));

    holder.resume();
    await entered;

    await holder.untilSaid('released');
    await next.release();
  },
);
