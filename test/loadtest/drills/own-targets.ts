import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect } from 'vitest';
import type { StepFigures, Timeline } from '../../../loadtest/evidence/results.ts';
import type { DrillOutcome } from '../../../loadtest/harness/drill.ts';
import { runStepDrill, type StepDrill, type StepDrillOptions } from '../../../loadtest/harness/step-drill.ts';
import { openLocalTarget, type Target, type TargetNode } from '../../../loadtest/harness/target.ts';
import type { Backend } from '../../../locks/index.ts';
import type { Link } from '../../../scripts/link/link.ts';
import { type Backends, startBackends } from '../../../scripts/stack/backends.ts';
import { MASTERS, type StackOptions } from '../../../scripts/stack/stack.ts';

export const LEASE_MS = 600;
/** For tests that share targets: one may wait until another has given its target back. */
export const SHARED_LIMIT_MS = 300_000;

/** Drills that tell no step, so that with --pause nobody is waited for. */
export const STEPLESS = ['long-wait', 'nested-call', 'long-sale', 'redis-outage'];

/** How long a part of the stack may take to answer after a drill, in milliseconds. */
const ANSWER_LIMIT_MS = 5_000;
/** How long a sale may take after a drill, in milliseconds. */
const SALE_LIMIT_MS = 5_000;
/** A node has one connection to Redis, and one more that listens, once a lock has needed it. */
const MOST_CONNECTIONS = 2;
/** How long connections that a drill has ended may take to close, in milliseconds. */
const CLOSE_LIMIT_MS = 3_000;

export interface DrillOptions extends Partial<Omit<StepDrillOptions, 'target'>> {
  /** Makes of the target one on which something is different: a step that does nothing, a lock that is another. */
  wrap?: (target: Target) => Target;
  /** Called with the real target when the drill has ended, before its state is looked at. */
  afterwards?: (target: Target) => unknown;
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
  let children: string[] = [];
  const free: Target[] = [];
  const waiters: ((target: Target) => void)[] = [];

  beforeAll(async () => {
    backends = await startBackends(needed);
    // One after the other: many at once would hold up the drills of another file.
    for (let opened = 0; opened < count; opened += 1) targets.push(await openTarget(backends, needed, options));
    children = ownChildren();
    free.push(...targets);
  });

  afterAll(async () => {
    const afterwards = ownChildren();
    await Promise.all(targets.map((target) => target.close()));
    await backends?.stop();
    expect(stopped(afterwards)).toEqual([]);
    expect(namesOf(afterwards)).toEqual(namesOf(children));
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
  { wrap = unchanged, afterwards = () => {}, ...options }: DrillOptions = {},
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
  await afterwards(target);
  await isAsBefore(target, before);
  if (await isOver(course)) return ran;
  // The drill was ended from outside, and its course may run on for a while: nothing may come of it.
  await course?.catch(() => {});
  await isAsBefore(target, before);
  return ran;
}

function isOver(course: Promise<unknown> | undefined): Promise<boolean> {
  const isIt = (course ?? Promise.resolve()).then(
    () => true,
    () => true,
  );
  return Promise.race([isIt, sleep(0).then(() => false)]);
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
  try {
    await lookAt(target, timing);
  } catch (error) {
    // The next drill on it must not fail because of this one.
    await clear(target, timing).catch(() => {});
    throw error;
  }
}

async function clear({ nodes, stack }: Target, timing: Awaited<ReturnType<typeof timingOf>>) {
  for (const [index, node] of nodes.entries()) {
    await node.resume();
    await sleep(LEASE_MS);
    await node.setLock((await node.state()).lock, timing[index]);
    await node.reset();
  }
  for (const url of [stack?.redis.url ?? '', ...(stack?.masters ?? []).map(({ url }) => url)]) {
    const redis = new Redis(url, { maxRetriesPerRequest: 0 });
    redis.on('error', () => {});
    await redis.flushall().finally(() => redis.disconnect());
  }
}

async function lookAt(target: Target, timing: Awaited<ReturnType<typeof timingOf>>) {
  for (const { name, publicUrl } of target.nodes) expect(`${name} ${await answers(publicUrl)}`).toBe(`${name} 200`);
  expect(`nginx ${await answers(target.url)}`).toBe('nginx 200');
  expect(await keysOf(target.stack?.redis.url ?? '')).toEqual([]);
  for (const { url } of target.stack?.masters ?? []) expect(await keysOf(url)).toEqual([]);

  expect(await timingOf(target)).toEqual(timing);
  for (const node of target.nodes) await expectIdle(node);

  for (const node of target.nodes) {
    await node.setStock(1);
    const startedAt = performance.now();
    let status = await sell(node);
    // On a busy machine masters may vote too late for one sale.
    while (status === 503 && performance.now() - startedAt < SALE_LIMIT_MS) status = await sell(node);
    expect(`${node.name} ${status}`).toBe(`${node.name} 200`);
    expect(performance.now() - startedAt).toBeLessThan(SALE_LIMIT_MS);
    await node.clear();
    await node.reset();
    // Nothing waits in the link any more, and no connection that was held is open.
    const deadline = performance.now() + CLOSE_LIMIT_MS;
    const isOpen = ({ counters }: Link) => counters.open > MOST_CONNECTIONS || counters.open < 1;
    while (node.link && isOpen(node.link) && performance.now() < deadline) await sleep(10);
    expect(node.link && isOpen(node.link)).not.toBe(true);
  }
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

async function sell({ publicUrl }: TargetNode): Promise<number | string> {
  return fetch(`${publicUrl}/inventory/sale`, { method: 'POST', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
}

/** The processes that this one has started: a line each, as `state name`. Only Linux tells. The bundler comes and goes, and counts not. */
export function ownChildren(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const [, name, state, parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(readStat(pid)) ?? [];
      return Number(parent) === process.pid && name !== 'esbuild' ? [`${state} ${name}`] : [];
    });
}

const stopped = (children: string[]) => children.filter((child) => /^[Tt]/.test(child));
const namesOf = (children: string[]) => children.map((child) => child.slice(2)).sort();

function readStat(pid: string) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
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
