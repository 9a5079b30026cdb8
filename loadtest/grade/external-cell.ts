// A drill under an external lock, which may break its node.

import { setTimeout as sleep } from 'node:timers/promises';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { connectRedis, mastersOf } from '../../services/inventory/redis-client.ts';
import { lockKey } from '../../services/inventory/store.ts';
import { countOf, formatDuration, formatNumber } from '../evidence/numbers.ts';
import { causeShown, type Drill, type DrillContext, type DrillOutcome, lostTrack } from '../harness/drill.ts';
import type { Target } from '../harness/target.ts';

/** How long a node may leave a question unanswered, in milliseconds; a drill may pause it for some leases. */
const SILENCE_LIMIT_MS = 5_000;
const PAUSED_LEASES = 3;
/** How many witnesses an outcome names. */
const MAX_WITNESSES = 10;
/** How often the nodes are asked, in milliseconds. */
const LOOK_MS = 500;

/** What an external lock did to a node: a sentence. */
class BrokenNode extends Error {}

/**
 * Runs a drill under an external lock. It may end its node or block it for ever: then the drill is stopped and has failed. `isStackSound`: the stack may carry another drill.
 */
export async function runExternalCell(
  drill: Drill,
  context: DrillContext,
): Promise<{ outcome: DrillOutcome; isStackSound: boolean }> {
  const { target, stage, settings } = context;
  const watch = watchNodes(target, SILENCE_LIMIT_MS + (drill.kind === 'steps' ? PAUSED_LEASES * settings.leaseMs : 0));
  const signal = AbortSignal.any([context.signal, watch.signal]);
  try {
    await deleteKeys(target, stage);
    const outcome = await drill.run({ ...context, signal, givesUp: true });
    return { outcome: judgeExternal(outcome), isStackSound: outcome.verdict !== 'unknown' && !signal.aborted };
  } catch (error) {
    await causeShown(signal);
    return { outcome: brokenOr(signal.aborted ? signal.reason : error), isStackSound: false };
  } finally {
    watch.close();
  }
}

/** The outcome of every drill under a lock with which the nodes do not start. */
export function nodesDidNotStart(error: Error): DrillOutcome {
  // Its module was loaded before: that a node is late to start is the machine's doing.
  const isLate = /was not ready within/.test(error.message);
  return isOfNode(error.message) && !isLate ? brokenOr(new BrokenNode(shorten(error.message))) : lostTrack(error);
}

/** Aborts with BrokenNode when a node ends that no drill killed, or answers nothing for too long; then all nodes are killed. */
function watchNodes({ nodes, partDied }: Target, limitMs: number) {
  const broken = new AbortController();
  let isOver = false;

  void partDied.then((sentence) => {
    if (!isOver) broken.abort(isOfNode(sentence) ? new BrokenNode(shorten(sentence)) : new Error(sentence));
  });
  for (const node of nodes) void watch(node);

  async function watch(node: Target['nodes'][number]) {
    while (!isOver && !broken.signal.aborted) {
      if (await node.isSilentFor(limitMs)) {
        if (isOver) return;
        const sentence = `${node.name} stopped answering: nothing for ${formatDuration(limitMs)}, as when its event loop is blocked.`;
        broken.abort(new BrokenNode(sentence));
        // What still waits for them ends at once.
        for (const { process } of nodes) await process?.kill();
      }
      await sleep(LOOK_MS);
    }
  }

  return {
    signal: broken.signal,
    close() {
      isOver = true;
    },
  };
}

const isOfNode = (sentence: string) => /^node-\d /.test(sentence);

/** `node-1 ended with exit code 1` and the line that says why. */
function shorten(sentence: string): string {
  const [first = '', ...lines] = sentence.split('\n').map((line) => line.trim());
  const cause = lines.find((line) => /^(\[?\w*Error\b|\[Unhandled|LOCK_MODULES)/.test(line));
  return `${first}${cause === undefined ? '' : `: ${cause}`}`.replace(/\.?$/, '.');
}

function brokenOr(error: unknown): DrillOutcome {
  const outcome = lostTrack(error);
  if (!(error instanceof BrokenNode)) return outcome;
  // Its last words are what there is to show.
  return { ...outcome, verdict: 'fail', witnesses: outcome.reasons, witnessCount: outcome.reasons.length };
}

/**
 * What no fault of a drill explains is often explained by what the nodes recorded of an external lock: it threw, or nobody was ever
 * given it. And it may have nothing that a drill could break.
 */
function judgeExternal(outcome: DrillOutcome): DrillOutcome {
  const { verdict, reasons, events, nothingToBreak } = outcome;
  if (verdict !== 'unknown') return outcome;
  // Its figures are those of a drill that was not staged.
  const { figures: _, ...rest } = outcome;
  const fail = (reason: string): DrillOutcome => ({ ...rest, verdict: 'fail', reasons: [reason] });
  const of = (...types: string[]) => events.filter(({ type }) => types.includes(type)).length;
  const faults = events.filter(({ code }) => code === 'LOCK_FAILED');
  const timeouts = events.filter(({ code }) => code === 'LOCK_WAIT_TIMEOUT').length;
  const [asked, entered, sold] = [of('waiting'), of('entered'), of('wrote')];
  const first = mostFrequent(faults.map(({ detail = '' }) => detail));

  if (faults.length > 0 && sold === 0) return fail(`No sale took place: ${first}`);
  if (faults.length > 0) return fail(`${countOf(faults.length, 'sale')} of ${formatNumber(asked)} failed: ${first}`);
  if (asked > 0 && entered === 0) return fail('No sale took place: acquire() gave nobody the lock.');
  if (timeouts > sold) {
    const witnesses = refusedSales(events);
    const reason = `${formatNumber(timeouts)} of ${formatNumber(asked)} sales were refused: the lock was not free in time.`;
    return { ...fail(reason), witnesses: witnesses.slice(0, MAX_WITNESSES), witnessCount: witnesses.length };
  }
  return nothingToBreak ? { ...outcome, verdict: 'not-applicable', reasons: [nothingFor(reasons)] } : outcome;
}

/** The text that is there most often; of several the one that comes first. */
function mostFrequent(texts: string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? '';
}

/** A sentence for each sale that waited for the lock in vain. */
function refusedSales(events: SaleEvent[]): string[] {
  return events
    .filter(({ code }) => code === 'LOCK_WAIT_TIMEOUT')
    .map(({ at, node, saleId }) => {
      const asked = events.find((event) => event.type === 'waiting' && event.node === node && event.saleId === saleId);
      return `sale ${saleId} on ${node} waited ${formatDuration(at - (asked?.at ?? at))}, and was refused`;
    });
}

function nothingFor(reasons: string[]) {
  return `This lock has nothing that the drill could break. ${reasons.join(' ')}`;
}

/** Deletes what the last drill left, whatever its keys are called. In a Redis that is not ours only what has the lock's key in its name. */
async function deleteKeys({ stack }: Target, stage: string) {
  if (stack === undefined) return;
  const isOurs = { redis: stack.redis.kind !== 'external', masters: stack.masters.every(({ process }) => process) };
  await deleteIn(stack.redis.url, stage, isOurs.redis);
  for (const { url } of stack.masters) await deleteIn(url, stage, isOurs.masters);
}

async function deleteIn(url: string, stage: string, isOurs: boolean) {
  const redis = connectRedis(url, {});
  try {
    // A Cluster must be there before it can be asked which servers it has.
    await redis.ping();
    for (const server of mastersOf(redis)) {
      if (isOurs) await server.flushdb();
      else for (const key of await server.keys(`*${lockKey('001', stage)}*`)) await redis.del(key);
    }
  } finally {
    redis.disconnect();
  }
}
