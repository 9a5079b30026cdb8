// One turn of the bench through nginx: sales over many connections, on two nodes.

import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { rushFigures } from '../evidence/results.ts';
import { runRush } from '../harness/rush.ts';
import type { Target } from '../harness/target.ts';
import type { TurnFigures } from './results.ts';

export interface HttpTurnOptions {
  target: Target;
  /** The strategy that both nodes sell under. */
  name: string;
  connections: number;
  requests: number;
  /** Every sale must have written an order to the MySQL of the target. */
  withOrders: boolean;
  signal: AbortSignal;
}

/** The servers at hand can't carry this strategy. The message says what to install. */
export class NotApplicable extends Error {}

/** Measures one strategy once, as a rush through nginx. Rejects with a sentence when it can't be run here. */
export async function runHttpTurn(options: HttpTurnOptions): Promise<TurnFigures> {
  const { target, name, connections, requests, withOrders, signal } = options;
  const ordersBefore = withOrders ? await countOrders(target) : 0;
  const outcome = await runRush(
    {
      target,
      stage: name,
      settings: { requests, connections, stock: requests, units: 0, leaseMs: 0 },
      signal,
      onProgress() {},
      async narrate() {},
    },
    { url: target.url, sellers: target.nodes.map((node) => node.name), requests, stock: requests },
  );
  if (outcome.verdict === 'not-applicable') throw new NotApplicable(outcome.reasons.join(' '));
  const figures = rushFigures({ drill: 'rush', taught: null, durationMs: 0, ...outcome });
  if (figures === undefined) throw new Error(outcome.reasons.join(' '));

  const { throughput, latencyMs, redisCommandsPerSale, sold, lostUpdates, lockTimeout, failed, inDoubt } = figures;
  const orders = withOrders ? (await countOrders(target)) - ordersBefore : sold;
  if (orders !== sold) throw new Error(`${sold} sales wrote ${orders} orders.`);
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

async function countOrders({ mysqlUrl }: Target): Promise<number> {
  if (mysqlUrl === undefined) throw new Error('The nodes have no MySQL for their orders.');
  const connection = await createConnection(mysqlUrl);
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT COUNT(*) AS orders FROM tb_order');
    return Number(rows[0]?.['orders']);
  } finally {
    await connection.end();
  }
}
