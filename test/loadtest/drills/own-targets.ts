import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect } from 'vitest';
import type { DrillOutcome } from '../../../loadtest/harness/drill.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import type { Scenario } from '../../../loadtest/scenarios/read.ts';
import { runScenario, type ScenarioOptions } from '../../../loadtest/scenarios/scenario.ts';
import { openLocalTarget } from '../../../loadtest/worlds/real/target.ts';
import type { Backend } from '../../../locks/index.ts';
import { type Backends, startBackends } from '../../../stack/backends.ts';
import { MASTERS, type StackOptions } from '../../../stack/stack.ts';

export const LEASE_MS = 600;

export interface DrillOptions extends Partial<Omit<ScenarioOptions, 'target'>> {
  /** Makes of the target one on which something is different: a step that does nothing, a lock that is another. */
  wrap?: (target: Target) => Target;
}

/** A stack for the tests of one file. After every drill, whatever came of it, it is as before. */
export function ownTargets(needed: Backend[] = [], options: StackOptions = {}) {
  let target: Target;
  let backends: Backends | undefined;

  beforeAll(async () => {
    backends = await startBackends(needed);
    const masters = needed.includes('masters') ? MASTERS : 0;
    target = await openLocalTarget({ forDrills: true, masters, env: { LOG_LEVEL: 'silent' }, ...options }, backends);
  });

  afterAll(async () => {
    await target?.close();
    await backends?.stop();
  });

  return {
    target: () => target,
    run: (page: Scenario, stage: string, options?: DrillOptions) => runOn(target, page, stage, options),
  };
}

const unchanged = (target: Target) => target;

/** Runs a drill, and sees that the stack is as before. Rejects as the drill does. */
async function runOn(
  target: Target,
  page: Scenario,
  stage: string,
  { wrap = unchanged, ...options }: DrillOptions = {},
): Promise<DrillOutcome> {
  const before = await timingOf(target);
  const ran = runScenario(page, {
    leaseMs: LEASE_MS,
    narrate: async () => {},
    // What is different may be so for its first try only.
    ...(wrap !== unchanged && { tries: 1 }),
    ...options,
    target: wrap(target),
    stage,
  });
  await ran.catch(() => {});
  await isAsBefore(target, before);
  return ran;
}

/** The locks' timing on both nodes, which a drill sets and puts back. */
function timingOf({ nodes }: Target) {
  return Promise.all(
    nodes.map(async (node) => {
      const { leaseMs, retryDelayMs, waitTimeoutMs } = await node.state();
      return { leaseMs, retryDelayMs, waitTimeoutMs };
    }),
  );
}

/** Every process runs, nothing is held, nobody is inside, no key is left, and the lock's timing is what it was. */
async function isAsBefore(target: Target, timing: Awaited<ReturnType<typeof timingOf>>) {
  const { nodes, url, stack } = target;
  for (const origin of [url, ...nodes.map(({ publicUrl }) => publicUrl)]) {
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  }
  for (const server of [stack?.redis, ...(stack?.masters ?? [])]) {
    const redis = new Redis(server?.url ?? '', { maxRetriesPerRequest: 0 });
    expect(await redis.keys('*').finally(() => redis.disconnect())).toEqual([]);
  }
  expect(await timingOf(target)).toEqual(timing);
  for (const node of nodes) {
    const { inFlight, waiting, unreleased, counts } = await node.state();
    expect([node.name, inFlight, waiting, unreleased]).toEqual([node.name, 0, 0, 0]);
    expect(Object.values(counts).every((count) => count === 0)).toBe(true);
    expect(await node.history()).toEqual({ events: [], dropped: 0 });
  }
}
