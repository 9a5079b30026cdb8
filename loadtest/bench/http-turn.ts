import { rushFigures } from '../results.ts';
import { runRush } from '../rush.ts';
import type { Target } from '../target.ts';
import type { TurnFigures } from './results.ts';

export interface HttpTurnOptions {
  target: Target;
  /** The strategy that both nodes sell under. */
  name: string;
  connections: number;
  requests: number;
  signal: AbortSignal;
}

/** The servers at hand can't carry this strategy. The message says what to install. */
export class NotApplicable extends Error {}

/** Measures one strategy once, as a rush through nginx. Rejects with a sentence when it can't be run here. */
export async function runHttpTurn(options: HttpTurnOptions): Promise<TurnFigures> {
  const { target, name, connections, requests, signal } = options;
  const outcome = await runRush(
    {
      target,
      stage: name,
      settings: { requests, connections, stock: requests, units: 0, leaseMs: 0 },
      signal,
      onProgress() {},
      async tell() {},
    },
    { url: target.url, sellers: target.nodes.map((node) => node.name), requests, stock: requests },
  );
  if (outcome.verdict === 'not-applicable') throw new NotApplicable(outcome.reasons.join(' '));
  const figures = rushFigures({ drill: 'rush', taught: null, durationMs: 0, ...outcome });
  if (figures === undefined) throw new Error(outcome.reasons.join(' '));

  const { throughput, latencyMs, redisCommandsPerSale, sold, lostUpdates, lockTimeout, failed, inDoubt } = figures;
  return {
    perSecond: throughput,
    ...(redisCommandsPerSale !== undefined && { commandsPerAcquisition: redisCommandsPerSale }),
    ...(latencyMs && { waitMs: { p50: latencyMs.p50, p99: latencyMs.p99, max: latencyMs.max } }),
    sections: sold,
    lostUpdates: Math.max(0, lostUpdates),
    starved: lockTimeout,
    errors: failed + inDoubt,
  };
}
