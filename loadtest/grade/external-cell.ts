// A drill under an external lock, which may break its node.

import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, mastersOf } from '../../services/inventory/redis-client.ts';
import { lockKey } from '../../services/inventory/store.ts';
import { formatDuration } from '../evidence/numbers.ts';
import { causeShown, type Drill, type DrillContext, type DrillOutcome, lostTrack } from '../harness/drill.ts';
import { judgeExternal } from '../harness/judge-external.ts';
import type { Target } from '../harness/target.ts';

/** How long a node may leave a question unanswered, in milliseconds; a drill may pause it for some leases. */
const SILENCE_LIMIT_MS = 5_000;
const PAUSED_LEASES = 3;
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
