import { expect, test } from 'vitest';
import { readLease, watchLease } from '../../../../loadtest/harness/lease-watch.ts';
import { ownRedis } from '../../../locks/own-redis.ts';

const { connect, url } = ownRedis();

/** Longer than anything here takes on a busy machine, in milliseconds. */
const SEEN = { timeout: 30_000 };

/** How long Redis has worked so far, in milliseconds. */
const workedMs = async (redis: ReturnType<typeof connect>) => (await readLease(redis, 'a-lock'))?.workedMs ?? 0;

test('lease watch: a Redis that a slow script keeps at work is the lock’s affair, and no standstill', async () => {
  const redis = connect();
  const watch = watchLease(url(), 'a-lock');
  await expect.poll(() => watch.samples.length, SEEN).toBeGreaterThan(0);
  const [startedAt, before] = [performance.now(), await workedMs(redis)];

  let turns = 1_000_000;
  // What it takes on a busy machine is mostly waiting: Redis itself says how long it has worked.
  for (let scriptMs = 0; scriptMs < 300; turns *= 2) {
    const workedBefore = await workedMs(redis);
    await redis.eval('for _ = 1, tonumber(ARGV[1]) do end', 0, turns);
    scriptMs = (await workedMs(redis)) - workedBefore;
  }
  const seen = watch.samples.length;
  await expect.poll(() => watch.samples.length, SEEN).toBeGreaterThan(seen);

  const [elapsedMs, worked] = [performance.now() - startedAt, (await workedMs(redis)) - before];
  await watch.close();
  expect(worked).toBeGreaterThan(200);
  // On a busy machine Redis is kept waiting besides.
  expect(watch.standstillMs()).toBeLessThan(elapsedMs - worked + 100);
});
