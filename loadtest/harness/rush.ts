// A rush: sends many sales at once, and collects what they left behind.

import type { NodeState } from '../../services/inventory/sale/contract.ts';
import { soldIn } from '../evidence/answers.ts';
import { type Evidence, freeEvidence, judge, judgeByAnswers, measure } from '../evidence/rush-account.ts';
import { findLostUpdates, lostUpdateSeen, withReadTimes } from '../evidence/stock.ts';
import { poll, watchStandstills } from './clock.ts';
import { type DrillContext, type DrillOutcome, firstOf, notApplicable } from './drill.ts';
import { sendSales } from './sales.ts';
import { lackOf, type Target } from './target.ts';

/** How long the last sales may take to end after the load has stopped, in milliseconds. */
const SETTLE_LIMIT_MS = 20_000;
/** How long a node may take to open its connection to Redis again, in milliseconds. */
const RECONNECT_LIMIT_MS = 5_000;
/** How much longer than its longest wait a request may take, in milliseconds. */
const ANSWER_MARGIN_MS = 20_000;
/** How much longer than its longest wait nobody may be given the lock, when a load gives up, in milliseconds. */
const GIVE_UP_MARGIN_MS = 1_000;
/**
 * How long nobody may hold the lock although sales wait, in milliseconds, and never longer than half a wait. The built-in locks are
 * free for some hundredths of a second, and a busy machine makes it one. Time in which the machine stood still does not count.
 */
export const FREE_LIMIT_MS = 5_000;
/**
 * How long a load may take at most, in milliseconds: so long, and so much more for each sale. The slowest built-in lock takes
 * 25 ms a sale on a very busy machine.
 */
const CAP_MS = 60_000;
const CAP_PER_SALE_MS = 30;

export interface RushOptions {
  /** Where the sales are sent: nginx, or one node. */
  url: string;
  /** The nodes that must sell. */
  sellers: string[];
  requests: number;
  stock: number;
  /** Called with the load, which ends when the last sale has, to measure what it costs. */
  around?: (<T>(load: () => Promise<T>) => Promise<T>) | undefined;
}

/** Sends `requests` sales at a stock of `stock` under the stage's lock, for as long as a load may take, and judges what is left. */
export async function runRush(
  context: DrillContext,
  { url, sellers, requests, stock, around = (load) => load() }: RushOptions,
): Promise<DrillOutcome> {
  const { target, stage, settings, signal, onProgress, givesUp } = context;
  const lacking = lackOf(target, stage);
  if (lacking !== undefined) return notApplicable(lacking);
  await prepare(target, stage, stock);

  // The nodes end a wait themselves.
  const waitMs = Math.max(...(await statesOf(target)).map(({ waitTimeoutMs }) => waitTimeoutMs));
  const capMs = CAP_MS + CAP_PER_SALE_MS * requests;
  const redis = target.stack && target.network.connectRedis(target.stack.redis.url, {});
  redis?.on('error', () => {});
  await redis?.ping().catch(() => {});
  const commandsBefore = await commandsProcessed(target);
  const standstills = watchStandstills(target.clock, async () => redis?.ping());
  const { tally, looks, nodes } = await around(async () => {
    const tally = await sendSales(target, {
      url,
      requests,
      connections: Math.min(settings.connections, requests),
      requestLimitMs: waitMs + ANSWER_MARGIN_MS,
      ...(givesUp && { giveUpMs: waitMs + GIVE_UP_MARGIN_MS }),
      capMs,
      signal,
      onAnswer: (answers) => onProgress(answers, requests),
    });
    const looks = standstills.looks;
    void standstills.close().finally(() => redis?.disconnect());
    // Also when the run is to stop: a sale in flight would write the stock after it was put back.
    return { tally, looks, nodes: await settle(target) };
  });
  signal.throwIfAborted();
  const commandsAfter = await commandsProcessed(target);

  const histories = await Promise.all(target.nodes.map((node) => node.history()));
  const finalStock = await target.nodes[0]?.stock();
  if (finalStock === undefined) throw new Error('The final stock could not be read: the key is missing.');
  await target.nodes[0]?.clear();

  const events = histories.flatMap((history) => history.events).sort((a, b) => a.at - b.at);
  const evidence: Evidence = {
    tally,
    requests,
    initialStock: stock,
    finalStock,
    nodes,
    sellers: target.wire.seesWrites ? sellers : [],
    events,
    dropped: histories.reduce((sum, history) => sum + history.dropped, 0),
    redisCommands: commandsAfter - commandsBefore - (redis ? looks : 0),
    standstills: standstills.spans,
    freeLimitMs: Math.min(FREE_LIMIT_MS, waitMs / 2),
    capMs,
  };
  const figures = measure(evidence);
  const lostUpdates = findLostUpdates(withReadTimes(soldIn(tally), events));
  return {
    ...(target.wire.nodesTell ? judge : judgeByAnswers)(evidence, figures),
    figures,
    samples: tally.samples,
    ...firstOf([...lostUpdates.map(lostUpdateSeen), ...freeEvidence(evidence, figures)]),
    events,
  };
}

/** Every rush starts so: the stage's lock on all nodes, no lock key, no history, the stock set. */
async function prepare({ nodes }: Target, stage: string, stock: number) {
  for (const node of nodes) await node.setLock(stage, { scope: 'sku' });
  for (const node of nodes) await node.reset();
  await nodes[0]?.clear();
  await nodes[0]?.setStock(stock);
}

const statesOf = ({ nodes }: Target): Promise<NodeState[]> => Promise.all(nodes.map((node) => node.state()));

/** Resolves with the nodes' states once no sale is in flight, or when that takes too long. */
async function settle(target: Target): Promise<NodeState[]> {
  let states: NodeState[] = [];
  await poll(target.clock, SETTLE_LIMIT_MS, async () => {
    states = await statesOf(target);
    return states.every(({ inFlight }) => inFlight === 0) || undefined;
  });
  return states;
}

/** A node that was stalled may have closed its connection: it opens another one. */
async function commandsProcessed({ nodes, clock }: Target): Promise<number> {
  const redis = await poll(clock, RECONNECT_LIMIT_MS, async () => nodes[0]?.redis().catch(() => undefined));
  if (redis === undefined) throw new Error('The first node cannot reach its Redis.');
  return redis.commandsProcessed;
}
