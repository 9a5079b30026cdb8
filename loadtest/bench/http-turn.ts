// One turn of the bench over HTTP: sales through nginx over many connections, on two or more nodes.

import { Redis } from 'ioredis';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { rushFigures } from '../evidence/results.ts';
import { type RushOptions, runRush } from '../harness/rush.ts';
import { lackOf, type Target, type TargetNode } from '../harness/target.ts';
import { sum } from '../narration/numbers.ts';
import { reasoned } from '../narration/reasons.ts';
import { type Contestant, nameOnAnyNodes } from './contestants.ts';
import { type CpuTime, cpuPerAcquisition, groupCpu, nodeCpuIn, redisCpu } from './cpu-time.ts';
import type { TurnFigures } from './results.ts';

/** How many warm-up sales run first: they compile code and open connections. */
export const WARM_UP_SALES = 2_000;

interface HttpTurnOptions {
  target: Target;
  contestant: Contestant;
  connections: number;
  requests: number;
  signal: AbortSignal;
}

/** The available servers can't run this strategy. The message says what to install. */
export class NotApplicable extends Error {}

/** Measures one strategy once, as a rush through nginx to warm nodes. Rejects with a sentence when it can't be run here. */
export async function runHttpTurn(options: HttpTurnOptions): Promise<TurnFigures> {
  const { target, contestant, connections, requests, signal } = options;
  const { ordersUnder } = contestant;
  const name = ordersUnder ?? nameOnAnyNodes(contestant.name);
  // Each sale must have written its order to the MySQL of the target.
  const withOrders = ordersUnder !== undefined;
  const lacking = lackOf(target, name);
  if (lacking !== undefined) throw new NotApplicable(reasoned(lacking));
  const rush = (sales: number, around?: RushOptions['around']) =>
    runRush(
      {
        target,
        stage: name,
        settings: { requests: sales, connections, stock: sales, units: 0, leaseMs: 0 },
        signal,
        onProgress() {},
        async narrate() {},
      },
      { url: target.url, sellers: target.nodes.map((node) => node.name), requests: sales, stock: sales, around },
    );
  await rush(WARM_UP_SALES);
  let before: CpuTime = {};
  let after: CpuTime = {};
  const ordersBefore = withOrders ? await countOrders(target) : 0;
  const outcome = await rush(requests, async (load) => {
    before = await cpuOf(target, contestant.needsMasters);
    const loaded = await load();
    after = await cpuOf(target, contestant.needsMasters);
    return loaded;
  });
  const figures = rushFigures(outcome);
  if (figures === undefined) throw new Error(outcome.reasons.join(' '));

  const { throughput, latencyMs, redisCommandsPerSale, sold, lostUpdates, lockTimeout, failed, inDoubt } = figures;
  const { inDoubt: doubtful, nonsense, failed: refused } = outcome.samples ?? {};
  const error = doubtful ?? nonsense ?? refused ?? (inDoubt > 0 ? 'no response' : undefined);
  const orders = withOrders ? (await countOrders(target)) - ordersBefore : sold;
  if (orders !== sold) throw new Error(`${sold} sales wrote ${orders} orders.`);
  return {
    perSecond: throughput,
    ...(redisCommandsPerSale !== undefined && { commandsPerAcquisition: redisCommandsPerSale }),
    cpuMicros: cpuPerAcquisition(before, after, sold),
    ...(latencyMs && { waitMs: { p50: latencyMs.p50, p99: latencyMs.p99, max: latencyMs.max } }),
    sections: sold,
    // A ceiling sells what is in no store, so nothing of it can be lost.
    lostUpdates: contestant.kind === 'ceiling' ? 0 : Math.max(0, lostUpdates),
    starved: lockTimeout,
    errors: failed + inDoubt,
    ...(error !== undefined && { error }),
  };
}

/** So far. */
async function cpuOf({ nodes, stack }: Target, hasMasters: boolean): Promise<CpuTime> {
  // The embedded Valkey does not tell, and one that was given may work for others, too.
  const isOwnRedis = stack?.redis.kind === 'native';
  const servers = isOwnRedis
    ? [stack.redis, ...(hasMasters ? stack.masters : [])].map(({ url }) => new Redis(url))
    : [];
  try {
    const [redis, ...ofNodes] = await Promise.all([redisCpu(servers), ...nodes.map(cpuOfNode)]);
    return { processes: sum(ofNodes), nginx: stack ? groupCpu(stack.nginx.part.pid) : Number.NaN, redis };
  } finally {
    for (const server of servers) server.disconnect();
  }
}

async function cpuOfNode({ publicUrl }: TargetNode): Promise<number> {
  const response = await fetch(`${publicUrl}/metrics`);
  return nodeCpuIn(await response.text());
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
