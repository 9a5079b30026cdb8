// The contract: named checks without load, which every lock goes through first.

import { Redis } from 'ioredis';
import { lackOfRedis } from '../../../scripts/stack/redis.ts';
import { MASTERS } from '../../../scripts/stack/stack.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { type Promises, readPromises } from '../../evidence/promises.ts';
import type { DrillResult } from '../../evidence/results.ts';
import { runAgainIfBusy } from '../../harness/busy-machine.ts';
import { sharedClock } from '../../harness/clock.ts';
import { type DrillOutcome, lostTrack } from '../../harness/drill.ts';
import { type Bed, LEASE_MS, LONG_LEASE_MS, openBed, type Survey } from './bed.ts';
import { type Check, checks } from './checks.ts';
import type { ContractServers } from './contract-servers.ts';
import { type LockNode, NodeBroken, startLockNode } from './lock-node.ts';
import type { LockTask } from './messages.ts';
import { doesNotApply, endOf, fails } from './outcome.ts';
import { noSurvey, surveyLock } from './survey.ts';
import { watchTurns } from './turns.ts';

/** After a standstill as long as this the verdict on what ends with a lease may be wrong, in milliseconds. */
const STANDSTILL_MS = LEASE_MS / 4;
/** What depends on no lease stands one as long as this, in milliseconds: only a step is late. */
const LONG_STANDSTILL_MS = LONG_LEASE_MS / 5;
/** One as long as this may be why a step did not happen, in milliseconds. */
const HINDERING_MS = 50;
/** One as long as this may be why masters did not vote in time, in milliseconds. */
const VOTE_STANDSTILL_MS = 25;
const TRIES = 3;
/** How many checks run at the same time: they mostly wait. With several masters each has five times the connections. */
const AT_A_TIME = 10;
const VOTED_AT_A_TIME = 3;
/** How long a check may take, in milliseconds. */
const CHECK_LIMIT_MS = 30_000;

/** A lock to be checked. */
export interface ContractOptions {
  /** The name of its row. */
  stage: string;
  lock: LockTask['lock'];
  /** What it promises; what its module exports, when it is not given. */
  promises?: Promises;
  /** The checks that are asked for, by their names. */
  names: string[];
  signal: AbortSignal;
  /** Called with each result when it is there. */
  onResult?: (result: DrillResult) => void;
}

/**
 * Puts a lock through the checks. Resolves with a result for each, in their order; those that an abort kept from running are missing.
 * None applies to a lock whose commands Redis lacks. Rejects when the lock's module can't be loaded.
 */
export async function runContract(servers: ContractServers, options: ContractOptions): Promise<DrillResult[]> {
  const { names, signal, onResult } = options;
  const results = new Map<string, DrillResult>();
  const lack = await lackOf(servers, options);
  if (lack !== undefined) {
    for (const check of checks) keep(check, doesNotApply(lack));
    return [...results.values()];
  }
  const setting = await openSetting(servers, options);

  async function run(check: Check, survey: Survey): Promise<DrillOutcome> {
    const startedAt = performance.now();
    const outcome = await runCheck(check, survey, setting, signal);
    keep(check, outcome, startedAt);
    return outcome;
  }

  function keep({ name }: Check, outcome: DrillOutcome, startedAt = performance.now()) {
    if (signal.aborted || !names.includes(name)) return;
    const { events: _, nothingToBreak: __, ...judged } = outcome;
    const durationMs = Math.round(performance.now() - startedAt);
    const result: DrillResult = { drill: name, taught: null, ...judged, durationMs };
    results.set(name, result);
    onResult?.(result);
  }

  try {
    const [first, keys, ...later] = checks as [Check, Check, ...Check[]];
    const others = later.filter(({ name }) => names.includes(name));
    const entered = await run(first, noSurvey);
    const survey = entered.nothingToBreak ? undefined : await surveyLock(setting).catch((error: Error) => error);
    const rest = [keys, ...others];
    if (survey === undefined || survey instanceof Error) {
      const reason = `Not looked at: ${survey?.message ?? `${first.name} does not hold.`}`;
      // It has failed already, or nothing may be concluded.
      const outcome = entered.verdict === 'fail' ? doesNotApply(reason) : lostTrack(reason);
      for (const check of rest) keep(check, outcome);
    } else {
      await run(keys, survey);
      if (survey.isElsewhere)
        for (const check of others) keep(check, doesNotApply(`Not looked at: ${survey.isElsewhere}`));
      else
        await runSome(others, setting.isVoted ? VOTED_AT_A_TIME : AT_A_TIME, async (check) => {
          if (!signal.aborted) await run(check, survey);
        });
    }
  } finally {
    await setting.close();
  }
  return checks.flatMap(({ name }) => results.get(name) ?? []);
}

/** Why the Redis of the contract can't carry a built-in lock, as a sentence. Undefined when it can, and for any other lock. */
async function lackOf(servers: ContractServers, { lock }: ContractOptions): Promise<string | undefined> {
  if (!('name' in lock)) return undefined;
  const [url = ''] = await servers.atLeast(1);
  return lackOfRedis(url, lock.name);
}

/** Those that take longest first, so that all end together. */
async function runSome(checks: Check[], atATime: number, run: (check: Check) => Promise<unknown>) {
  const queue = checks.toSorted((a, b) => (b.leases ?? 0) - (a.leases ?? 0));
  const work = async () => {
    for (let check = queue.shift(); check; check = queue.shift()) await run(check);
  };
  await Promise.all(Array.from({ length: atATime }, work));
}

export type Setting = Awaited<ReturnType<typeof openSetting>>;

/** Two processes with the lock, and the servers that it works with. */
async function openSetting(servers: ContractServers, { stage, lock, promises: given }: ContractOptions) {
  const nodes: LockNode[] = [];
  let serverUrls = await servers.atLeast(given?.masters ? MASTERS : 1);

  async function startNode() {
    const node = await startLockNode({ name: `node-${nodes.length + 1}`, lock, serverUrls });
    nodes.push(node);
    return node;
  }

  try {
    let first = await startNode();
    const promises = given ?? readPromises(first.promises);
    if (promises.masters && serverUrls.length === 1) {
      await first.stop();
      serverUrls = await servers.atLeast(MASTERS);
      first = await startNode();
    }
    const pair: [LockNode, LockNode] = [first, await startNode()];
    const redis = serverUrls.map((url) => new Redis(url));
    const turns = watchTurns(redis[0] as Redis);
    return {
      isVoted: serverUrls.length > 1,
      /** The bed of one check. */
      bed: (survey: Survey) => openBed({ stage, promises, survey, pair, servers: redis, startNode }),
      standstillMs: turns.standstillMs,
      async close() {
        await turns.close();
        for (const client of redis) client.disconnect();
        await Promise.all(nodes.map((node) => node.stop()));
      },
    };
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw error;
  }
}

/** Runs a check, and runs it again when the machine stood still for so long that the verdict may be wrong. */
async function runCheck(
  { run, isTimeless, isCertain = () => false }: Check,
  survey: Survey,
  setting: Setting,
  signal: AbortSignal,
): Promise<DrillOutcome> {
  const attempt = async () => {
    const bed = setting.bed(survey);
    const startedAt = { shared: sharedClock(), own: performance.now() };
    const outcome = await runOnce(bed, run, signal);
    const waited = await Promise.all([...bed.nodes].map((node) => node.standstillMs(startedAt.shared)));
    await bed.close();
    if (outcome.verdict === 'fail' && isCertain(outcome)) return { outcome, standstillMs: 0 };
    const standstillMs = Math.max(setting.standstillMs(startedAt.own), ...waited);
    // A vote is waited for a moment only: what fails then may be the machine's fault.
    const isLate = setting.isVoted && outcome.verdict === 'fail' && standstillMs > VOTE_STANDSTILL_MS;
    return { outcome, standstillMs, isLate };
  };
  const wrongMs = isTimeless ? LONG_STANDSTILL_MS : STANDSTILL_MS;
  return runAgainIfBusy(attempt, { wrongMs, hinderingMs: HINDERING_MS, tries: TRIES, narrate: async () => {} });
}

async function runOnce(
  bed: Bed & { nodes: Set<LockNode> },
  run: Check['run'],
  signal: AbortSignal,
): Promise<DrillOutcome> {
  if (signal.aborted) return lostTrack('The run was stopped.');
  const over = AbortSignal.any([signal, AbortSignal.timeout(CHECK_LIMIT_MS)]);
  const stopped = new Promise<never>((_, reject) => {
    over.addEventListener('abort', () => reject(new Error('The check did not come to its end.')), { once: true });
  });
  try {
    return await Promise.race([run(bed), stopped]);
  } catch (error) {
    // A process that does not answer any more explains all the rest.
    const broken = error instanceof NodeBroken ? error : await brokenOf(bed.nodes);
    if (broken) return fails(broken.message);
    return { ...lostTrack(error), nothingToBreak: error instanceof NotStagedError && error.nothingToBreak };
  }
}

async function brokenOf(nodes: Set<LockNode>): Promise<NodeBroken | undefined> {
  for (const node of nodes) {
    const end = await endOf(node.check(), CHECK_LIMIT_MS).catch((error: Error) => error);
    if (end instanceof NodeBroken && !node.isKilled()) return end;
  }
  return undefined;
}
