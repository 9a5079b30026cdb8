import { expect, vi } from 'vitest';
import type { Drill } from '../../../loadtest/harness/drill.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { openLocalTarget } from '../../../loadtest/worlds/real/target.ts';
import { backendOf, commandsOf, replicasOf, strategies } from '../../../locks/index.ts';

const SETTINGS = { requests: 200, connections: 40, stock: 1_000, units: 100, leaseMs: 1_000 };

/** What keeps its lock in the Redis of the stock, whichever that is, needs no replica of it, and holds a rush on one server. */
export const redisStrategies = Object.keys(strategies).filter(
  (name) =>
    backendOf(name) === 'redis' &&
    replicasOf(name) === 0 &&
    commandsOf(name) === undefined &&
    !['0-none', '1-in-process'].includes(name),
);

/** A stack whose nodes reach the Redis at `url`. */
export function openTargetAt(url: string): Promise<Target> {
  vi.stubEnv('REDIS_URL', url);
  return openLocalTarget({ env: { LOG_LEVEL: 'silent' } }).finally(() => vi.unstubAllEnvs());
}

/** Runs a load as the harness does. */
export function runLoad(target: Target, stage: string, drill = drills.find(({ name }) => name === 'rush') as Drill) {
  return drill.run({
    target,
    stage,
    settings: SETTINGS,
    signal: new AbortController().signal,
    onProgress: () => {},
    narrate: async () => {},
  });
}

/** The load passed, and every request of it was a sale. */
export function expectAllSold(outcome: Awaited<ReturnType<typeof runLoad>>) {
  expect(outcome).toMatchObject({
    verdict: 'pass',
    figures: { sold: SETTINGS.requests, lostUpdates: 0, oversold: 0, overlaps: 0, failed: 0, inDoubt: 0 },
  });
}
