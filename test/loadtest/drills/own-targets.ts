import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect } from 'vitest';
import type { StepFigures, Timeline } from '../../../loadtest/evidence/results.ts';
import type { DrillOutcome } from '../../../loadtest/harness/drill.ts';
import { runStepDrill, type StepDrill, type StepDrillOptions } from '../../../loadtest/harness/step-drill.ts';
import { openLocalTarget, type Target, type TargetNode } from '../../../loadtest/harness/target.ts';
import type { Backend } from '../../../locks/index.ts';
import { type Backends, startBackends } from '../../../scripts/stack/backends.ts';
import { MASTERS, type StackOptions } from '../../../scripts/stack/stack.ts';

export const LEASE_MS = 600;
/** For tests that share targets: one may wait until another has given its target back. */
export const SHARED_LIMIT_MS = 300_000;

/** Drills that tell no step, so that with --pause nobody is waited for. */
export const STEPLESS = ['long-wait', 'nested-call', 'long-sale', 'redis-outage'];

/** How long a part of the stack may take to answer after a drill, in milliseconds. */
const ANSWER_LIMIT_MS = 5_000;
export interface DrillOptions extends Partial<Omit<StepDrillOptions, 'target'>> {
  /** Makes of the target one on which something is different: a step that does nothing, a lock that is another. */
  wrap?: (target: Target) => Target;
}

export type RunDrill = (drill: StepDrill, stage: string, options?: DrillOptions) => Promise<DrillOutcome>;

/**
 * `count` stacks for the tests of one file, which may run at the same time: each drill has one of them alone. After every
 * drill, whatever came of it, the stack is as before.
 */
export function ownTargets(
  count: number,
  needed: Backend[] = [],
  options: StackOptions = {},
): { run: RunDrill; use<T>(act: (target: Target) => Promise<T>): Promise<T> } {
  const targets: Target[] = [];
  let backends: Backends | undefined;
  const free: Target[] = [];
  const waiters: ((target: Target) => void)[] = [];

  beforeAll(async () => {
    backends = await startBackends(needed);
    // One after the other: many at once would hold up the drills of another file.
    for (let opened = 0; opened < count; opened += 1) targets.push(await openTarget(backends, needed, options));
    free.push(...targets);
  });

  afterAll(async () => {
    await Promise.all(targets.map((target) => target.close()));
    await backends?.stop();
  });

  async function use<T>(act: (target: Target) => Promise<T>): Promise<T> {
    const target = free.shift() ?? (await new Promise<Target>((resolve) => waiters.push(resolve)));
    try {
      return await act(target);
    } finally {
      const next = waiters.shift();
      if (next) next(target);
      else free.push(target);
    }
  }

  return {
    use,
    run: (drill, stage, options) => use((target) => runOn(target, drill, stage, options)),
  };
}

export function openTarget(backends?: Backends, needed: Backend[] = [], options: StackOptions = {}): Promise<Target> {
  const masters = needed.includes('masters') ? MASTERS : 0;
  return openLocalTarget({ forDrills: true, masters, env: { LOG_LEVEL: 'silent' }, ...options }, backends);
}

const unchanged = (target: Target) => target;

/** Runs a drill, and sees that the stack is as before. Rejects as the drill does. */
async function runOn(
  target: Target,
  drill: StepDrill,
  stage: string,
  { wrap = unchanged, ...options }: DrillOptions = {},
): Promise<DrillOutcome> {
  const before = await timingOf(target);
  let course: Promise<unknown> | undefined;
  const watched: StepDrill = {
    ...drill,
    run(testBed) {
      const judged = drill.run(testBed);
      course = judged;
      return judged;
    },
  };
  const ran = runStepDrill(watched, {
    leaseMs: LEASE_MS,
    narrate: async () => {},
    // What is different may be so for its first try only.
    ...(wrap !== unchanged && { tries: 1 }),
    ...options,
    target: wrap(target),
    stage,
  });
  await ran.catch(() => {});
  // A drill that was ended from outside may run on for a while: nothing may come of it.
  await course?.catch(() => {});
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
  for (const { name, publicUrl } of target.nodes) expect(`${name} ${await answers(publicUrl)}`).toBe(`${name} 200`);
  expect(`nginx ${await answers(target.url)}`).toBe('nginx 200');
  expect(await keysOf(target.stack?.redis.url ?? '')).toEqual([]);
  for (const { url } of target.stack?.masters ?? []) expect(await keysOf(url)).toEqual([]);

  expect(await timingOf(target)).toEqual(timing);
  for (const node of target.nodes) await expectIdle(node);
}

async function keysOf(redisUrl: string): Promise<string[]> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 0, commandTimeout: ANSWER_LIMIT_MS });
  redis.on('error', () => {});
  return redis.keys('*').finally(() => redis.disconnect());
}

async function expectIdle(node: TargetNode) {
  const { inFlight, waiting, unreleased, counts } = await node.state();
  expect({ node: node.name, inFlight, waiting, unreleased }).toEqual({
    node: node.name,
    inFlight: 0,
    waiting: 0,
    unreleased: 0,
  });
  expect(Object.values(counts).every((count) => count === 0)).toBe(true);
  expect(await node.history()).toEqual({ events: [], dropped: 0 });
}

/** The status of a health check, or why there was none. */
async function answers(url: string): Promise<number | string> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
}

/** The target with its nodes changed; `index` is 0 for the first node and 1 for the second. */
export function withNodes(target: Target, change: (node: TargetNode, index: number) => Partial<TargetNode>): Target {
  return { ...target, nodes: target.nodes.map((node, index) => ({ ...node, ...change(node, index) })) };
}

/** A target that runs another stage's lock than the one it is given. */
export const impostor =
  (stage: string, really: string) =>
  (target: Target): Target =>
    withNodes(target, ({ setLock }) => ({
      setLock: (version, timing) => setLock(version === stage ? really : version, timing),
    }));

export const figuresOf = ({ figures }: DrillOutcome) => figures as StepFigures;

export interface SignedCell {
  drill: StepDrill;
  stage: string;
  /** ✔ or ✘; w where it holds because everybody waits. */
  sign: string;
}

/** Runs a cell, and sees that it comes out as its sign says, for a reason that is a sentence, and tells steps if its drill has any. */
export async function comesOutAsSigned(run: RunDrill, { drill, stage, sign }: SignedCell): Promise<DrillOutcome> {
  let hasSteps = false;
  const narrate = async (_sentence: string, _atMs: number, isStep: boolean) => {
    hasSteps ||= isStep;
  };
  const outcome = await run(drill, stage, { narrate });
  const { verdict, reasons } = outcome;
  expect({ verdict, reasons }).toEqual({
    verdict: sign === '✘' ? 'fail' : 'pass',
    reasons: [expect.stringMatching(/\S.*\.$/s)],
  });
  expect(hasSteps).toBe(!STEPLESS.includes(drill.name));
  if (sign === 'w') expectEverybodyWaited(outcome);
  return outcome;
}

/** Nothing may be concluded, for this reason. */
export function isUnknown({ verdict, reasons }: DrillOutcome, expected: RegExp) {
  expect({ verdict, reasons }).toEqual({ verdict: 'unknown', reasons: [expect.stringMatching(expected)] });
}

/** Nobody else got in, because the lock was never given up: nothing is lost. */
export function expectEverybodyWaited(outcome: DrillOutcome) {
  const { keptOutMs, overlaps = 0, lostUpdates = 0 } = figuresOf(outcome);
  expectKeptOut(keptOutMs);
  expect({ overlaps, lostUpdates, witnesses: outcome.witnesses }).toEqual({
    overlaps: 0,
    lostUpdates: 0,
    witnesses: [],
  });
  expect(outcome.reasons.join()).toMatch(/everybody waited/);
}

/** Everybody was kept out for as long as the drill waits: two and a half leases. */
export function expectKeptOut(keptOutMs: number | undefined) {
  expect(keptOutMs).toBeGreaterThan(2.4 * LEASE_MS);
  expect(keptOutMs).toBeLessThan(5 * LEASE_MS);
}

export function timelineOf({ timeline }: DrillOutcome): Timeline {
  if (timeline === undefined) throw new Error('There is no timeline.');
  return timeline;
}
