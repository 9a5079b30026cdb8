// What a machine that is too busy does to a verdict: processes that really stand still, and servers that really work.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hungHolder } from '../../../../loadtest/drills/hung-holder.ts';
import { longSale } from '../../../../loadtest/drills/long-sale.ts';
import type { DrillOutcome } from '../../../../loadtest/harness/drill.ts';
import { readLease, watchLease } from '../../../../loadtest/harness/lease-watch.ts';
import { playOnBusyMachine } from '../../../../loadtest/orders/shop.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';
import { ownRedis } from '../../../locks/own-redis.ts';

const { run, use } = ownTargets(1);
const { connect, url } = ownRedis();
const tooBusy = /^The machine was too busy: for [\d.]+ m?s nothing went on\./;

// Neither Redis nor the harness stands still meanwhile.
test.each([
  { drill: longSale, node: 1, forMs: 550, wrong: 'it would fail' },
  { drill: hungHolder, node: 0, forMs: 1_100, wrong: 'it would pass' },
])('$drill.name: a node stands still for $forMs ms: unknown; $wrong', async ({ drill, node, forMs }) => {
  const process = await use(async ({ nodes }) => nodes[node]?.process);
  let stopped: Promise<void> | undefined;
  async function standStill() {
    await sleep(300);
    process?.signal('SIGSTOP');
    await sleep(forMs);
    process?.signal('SIGCONT');
  }
  const narrate = async () => {
    stopped ??= standStill();
  };
  const outcome = await run(drill, '8-auto-renew', { tries: 1, narrate });

  await stopped;
  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: [expect.stringMatching(tooBusy)] });
});

test.each([
  { leaseMs: 600, verdict: 'unknown', times: 4 },
  { leaseMs: 30_000, verdict: 'pass', times: 1 },
] as const)(
  'orders: the harness stands still for 400 ms of a lease of $leaseMs: $verdict',
  async ({ leaseMs, verdict, times }) => {
    const passed: DrillOutcome = {
      ...{ verdict: 'pass', reasons: ['Every unit came back once.'], figures: {} },
      ...{ witnesses: [], witnessCount: 0, stockOverTime: [], events: [] },
    };
    let played = 0;
    async function playOnce() {
      played += 1;
      // The watch has begun when the event loop has had a turn.
      await sleep(20);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
      await sleep(20);
      return passed;
    }

    const outcome = await playOnBusyMachine(playOnce, { leaseMs, narrate: async () => {} });

    expect({ verdict: outcome.verdict, played }).toEqual({ verdict, played: times });
  },
);

test('a Redis that a slow script keeps at work is the lock’s affair, and no standstill', async () => {
  const redis = connect();
  const workedMs = async () => (await readLease(redis, 'a-lock'))?.workedMs ?? 0;
  const watch = watchLease(url(), 'a-lock');
  await expect.poll(() => watch.samples.length).toBeGreaterThan(0);
  const [startedAt, before] = [performance.now(), await workedMs()];

  let turns = 1_000_000;
  // What it takes on a busy machine is mostly waiting: Redis itself says how long it has worked.
  for (let scriptMs = 0; scriptMs < 300; turns *= 2) {
    const workedBefore = await workedMs();
    await redis.eval('for _ = 1, tonumber(ARGV[1]) do end', 0, turns);
    scriptMs = (await workedMs()) - workedBefore;
  }
  const seen = watch.samples.length;
  await expect.poll(() => watch.samples.length).toBeGreaterThan(seen);

  const [elapsedMs, worked] = [performance.now() - startedAt, (await workedMs()) - before];
  await watch.close();
  // On a busy machine Redis is kept waiting besides.
  expect(watch.standstillMs()).toBeLessThan(elapsedMs - worked + 100);
});
