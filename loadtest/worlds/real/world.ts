// The real world: runs cells on real servers. An external lock may break its node.

import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, mastersOf } from '../../../services/inventory/servers/redis-client.ts';
import { lockKey } from '../../../services/inventory/servers/store.ts';
import { PartError } from '../../../stack/parts.ts';
import { SIGN_EVERY_MS, type SilenceLimits, usualLimits, watchSilence } from '../../../stack/signs.ts';
import { isNode } from '../../../stack/stack.ts';
import {
  type Audience,
  type Cell,
  type DrillOutcome,
  type DrillSettings,
  lostTrack,
  type World,
} from '../../harness/drill.ts';
import type { Target } from '../../harness/target.ts';
import { isExternal } from '../../staircase/lookup.ts';
import type { Targets } from './targets.ts';

/** A drill may keep a node from giving a sign for so many leases. */
const PAUSED_LEASES = 3;
/** How long the cause of an error may take to show, in milliseconds. */
const CAUSE_LIMIT_MS = 500;
/** What an external lock did to a node: a sentence. */
class BrokenNode extends Error {}

export interface RealWorldOptions {
  /** Where its stacks come from. One that was not left clean is discarded. */
  targets: Pick<Targets, 'open' | 'discard'>;
  settings: DrillSettings;
  /** Ends what is played when it aborts; its reason is a sentence. */
  signal: AbortSignal;
  /** How long a node may give no sign; as usual when they are not given. */
  limits?: SilenceLimits;
}

/** Plays cells on real servers. */
export function realWorld({ targets, settings, signal, limits = usualLimits }: RealWorldOptions): World {
  const { keptMs, silenceMs } = limits;
  return {
    isVirtual: false,
    async play(cell, audience, place) {
      const { stage, drill } = cell;
      const target = await targets.open(drill.kind, place, stage).catch((error: Error) => {
        if (isExternal(stage)) return error;
        throw error;
      });
      if (target instanceof Error) return { outcome: nodesDidNotStart(target) };
      const { outcome, isClean } = await playOn(target, cell, audience);
      if (!isClean) await targets.discard(drill.kind, place);
      return { outcome };
    },
  };

  /** `isClean`: the stack may carry another drill. A drill that goes step by step has put it back, or else rejects. */
  async function playOn(target: Target, { drill, stage }: Cell, { watch, ...audience }: Audience) {
    const isOurs = !isExternal(stage);
    const isStepwise = drill.kind === 'steps';
    const pausedMs = PAUSED_LEASES * settings.leaseMs;
    const nodes = isOurs
      ? undefined
      : watchNodes(target, { keptMs: keptMs + pausedMs, silenceMs: silenceMs + pausedMs });
    const either = nodes ? AbortSignal.any([signal, nodes.signal]) : signal;
    try {
      if (!isOurs) await deleteKeys(target, stage);
      const outcome = await drill.run({
        onProgress() {},
        narrate: async () => {},
        ...audience,
        target: (await watch?.(target)) ?? target,
        stage,
        settings,
        signal: either,
        givesUp: !isOurs,
      });
      // Servers that have elected another primary are not put back: the next drill gets others.
      const isWhole = target.stack?.redisSet === undefined || !isStepwise;
      return { outcome, isClean: isWhole && (outcome.verdict !== 'unknown' || (isOurs && isStepwise)) };
    } catch (error) {
      // A death shows as a call without an answer first, and as a death a moment later.
      await sleep(CAUSE_LIMIT_MS, undefined, { signal: either }).catch(() => {});
      const isPutBack = isOurs && isStepwise && error === signal.reason;
      return { outcome: brokenOr(either.aborted ? either.reason : error), isClean: isPutBack };
    } finally {
      nodes?.close();
    }
  }
}

/** The outcome of every drill under a lock with which the nodes do not start. */
function nodesDidNotStart(error: Error): DrillOutcome {
  // Its module was loaded before: that a node is late to start is the machine's doing.
  const isBroken = error instanceof PartError && isNode(error) && !error.isLate;
  return brokenOr(isBroken ? new BrokenNode(error.inShort) : error);
}

/** Aborts with BrokenNode when a node ends that no drill killed, or its lock keeps it for ever; without that when it gives no sign. */
function watchNodes({ nodes, partDied }: Target, limits: SilenceLimits) {
  const broken = new AbortController();
  let isOver = false;

  void partDied.then((died) => {
    if (!isOver) broken.abort(isNode(died) ? new BrokenNode(died.inShort) : died);
  });
  const watches = nodes.map((node) => {
    let pid = 0;
    const silence = watchSilence(
      () => pid,
      limits,
      ({ verdict, reasons: [reason] }) => {
        const named = `${node.name}: ${reason}`;
        broken.abort(verdict === 'fail' ? new BrokenNode(named) : new Error(named));
        // What still waits for them ends at once.
        for (const { process } of nodes) process?.kill().catch(() => {});
      },
    );
    // One that is late holds up no other.
    const timer = setInterval(() => node.state().then(hear, () => {}), SIGN_EVERY_MS);
    function hear(state: { pid: number }) {
      pid = state.pid;
      silence.hearSign();
    }
    return [silence.close, () => clearInterval(timer)];
  });

  return {
    signal: broken.signal,
    close() {
      isOver = true;
      for (const close of watches.flat()) close();
    },
  };
}

function brokenOr(error: unknown): DrillOutcome {
  const outcome = lostTrack(error);
  if (!(error instanceof BrokenNode)) return outcome;
  // Its last words are what there is to show.
  return { ...outcome, verdict: 'fail', evidence: outcome.reasons, evidenceCount: outcome.reasons.length };
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
