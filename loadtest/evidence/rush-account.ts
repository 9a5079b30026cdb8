// The account of a rush: what was sent, answered, counted and sold, whether it closes, and the verdict.

import type { NodeState, SaleEvent } from '../../services/inventory/lab/contract.ts';
import { countOf, formatDuration, formatNumber, quantile, sum } from '../narration/numbers.ts';
import { inDoubtOf, type Tally } from './answers.ts';
import { describeFree, freeWhileWanted, longestOf, type Span } from './free-time.ts';
import { holdsOf, keyOf } from './history.ts';
import { findLostUpdates } from './lost-updates.ts';
import { countOverlaps } from './overlaps.ts';
import type { RushFigures, Verdict } from './results.ts';

/** What a rush left behind, as the harness and the nodes saw it. */
export interface Evidence {
  tally: Tally;
  /** How many requests should have been sent. */
  requests: number;
  initialStock: number;
  finalStock: number;
  /** The nodes after the last sale has ended. */
  nodes: NodeState[];
  /** The nodes that must have sold. */
  sellers: string[];
  /** The events of all nodes. Incomplete when `dropped` is above zero. */
  events: SaleEvent[];
  dropped: number;
  redisCommands: number | undefined;
  /** When the machine stood still. */
  standstills: Span[];
  /** How long nobody may hold the lock although sales wait, in milliseconds. */
  freeLimitMs: number;
  /** How long the load may take, in milliseconds. */
  capMs: number;
}

/** The figures that the evidence yields. Each is measured, none is derived from what a lock says of itself. */
export function measure(evidence: Evidence): RushFigures {
  const { tally, nodes, initialStock, finalStock, events, dropped, redisCommands } = evidence;
  const sold = tally.sold.length;
  const expectedStock = initialStock - sold;
  const conflicts = events.filter(({ type }) => type === 'conflict').length;
  const latencies = tally.sold.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
  return {
    sent: tally.sent,
    answers: tally.answers,
    errors: tally.errors,
    received: sum(nodes.map(({ counts }) => counts.received)),
    sold,
    soldOut: tally.soldOut,
    lockTimeout: tally.lockTimeout,
    failed: tally.failed,
    inDoubt: inDoubtOf(tally),
    initialStock,
    expectedStock,
    finalStock,
    lostUpdates: finalStock - expectedStock,
    oversold: Math.max(0, sold - initialStock),
    ...(dropped === 0 && { overlaps: countOverlaps(holdsOf(events)) }),
    ...(dropped === 0 && { longestFreeMs: longestFree(evidence).ms }),
    ...(conflicts > 0 && { conflicts }),
    throughput: tally.durationMs > 0 ? sold / (tally.durationMs / 1000) : 0,
    ...(sold > 0 && {
      latencyMs: {
        p50: quantile(latencies, 0.5),
        p95: quantile(latencies, 0.95),
        p99: quantile(latencies, 0.99),
        max: quantile(latencies, 1),
      },
    }),
    ...(redisCommands !== undefined &&
      redisCommands >= 0 &&
      tally.sent > 0 && { redisCommandsPerSale: redisCommands / tally.sent }),
    soldByNode: countBy(tally.sold.map(({ node }) => node)),
  };
}

/**
 * The verdict on a rush. `unknown` when it took longer than it may, or when the accounts do not close: requests sent = answers +
 * errors = what the nodes counted, sold + refused + in doubt = sent, and the stock is what the sales can explain. Otherwise `fail`
 * when a sale was lost, a unit was sold twice, or two holders met. A lock that nobody held for too long although sales waited has
 * failed, also when it took too long or refused most of the sales.
 */
export function judge(evidence: Evidence, figures: RushFigures): { verdict: Verdict; reasons: string[] } {
  const { tally, requests, capMs } = evidence;
  const late = `After ${formatDuration(capMs)} ${formatNumber(tally.answers)} of ${formatNumber(requests)} sales were answered: no load may take longer.`;
  const doubts = tally.isCapped ? [late] : findDoubts(evidence, figures);
  const free = freeFault(evidence, figures);
  if (doubts.length > 0 && free !== undefined && tally.failed === 0) {
    return { verdict: 'fail', reasons: [free, ...(tally.isCapped ? [late] : [])] };
  }
  if (doubts.length > 0) return { verdict: 'unknown', reasons: doubts };

  const { lostUpdates, oversold, overlaps = 0, inDoubt } = figures;
  const faults = [
    ...(lostUpdates > 0 || oversold > 0 ? [stockSentence(figures)] : []),
    ...(overlaps > 0 ? [`Two holders inside at the same moment: ${countOf(overlaps, 'time')}.`] : []),
    ...(free === undefined ? [] : [free]),
  ];
  if (faults.length > 0) return { verdict: 'fail', reasons: faults };
  if (inDoubt > 0) {
    return { verdict: 'unknown', reasons: [`${countOf(inDoubt, 'sale')} in doubt, and no fault explains it.`] };
  }
  return { verdict: 'pass', reasons: [stockSentence(figures)] };
}

/** `2,000 sold · stock 3,637, expected 3,000 · 637 oversold.`: a unit that was sold and is still in stock is sold again. */
function stockSentence({ sold, initialStock, finalStock, expectedStock, lostUpdates, oversold }: RushFigures): string {
  const stock = `stock ${formatNumber(finalStock)}`;
  if (oversold > 0) {
    const expected = finalStock === 0 ? '' : ', expected 0';
    return `${formatNumber(sold)} sold of ${formatNumber(initialStock)} · ${stock}${expected} · ${formatNumber(oversold)} oversold.`;
  }
  if (lostUpdates === 0) return `${formatNumber(sold)} sold · ${stock}, as expected · none oversold.`;
  return `${formatNumber(sold)} sold · ${stock}, expected ${formatNumber(expectedStock)} · ${formatNumber(lostUpdates)} oversold.`;
}

const longestFree = ({ events, standstills }: Evidence) => longestOf(freeWhileWanted(events), standstills);

/** From when until when a lock was free for too long although sales waited, and for whom: a sentence, where there is one. */
export function freeWitnesses(evidence: Evidence, { longestFreeMs = 0 }: RushFigures): string[] {
  const { span } = longestFree(evidence);
  if (span === undefined || longestFreeMs <= evidence.freeLimitMs) return [];
  return [describeFree(span, evidence.events[0]?.at ?? 0)];
}

/** What is wrong with a lock that is free while sales wait: a sentence, or undefined. */
function freeFault({ freeLimitMs }: Evidence, { longestFreeMs = 0, lockTimeout, sent }: RushFigures) {
  if (longestFreeMs <= freeLimitMs) return undefined;
  const refused = lockTimeout > 0 ? ` ${formatNumber(lockTimeout)} of ${formatNumber(sent)} were refused.` : '';
  return `For ${formatDuration(longestFreeMs)} nobody held the lock although sales waited.${refused}`;
}

/** Everything that does not add up, a sentence each. */
function findDoubts(evidence: Evidence, figures: RushFigures): string[] {
  const { tally, requests, nodes, sellers, events, dropped } = evidence;
  const { sent, answers, errors, received, sold, inDoubt, finalStock, expectedStock, lostUpdates } = figures;
  const refused = tally.soldOut + tally.lockTimeout + tally.failed;
  const nodesSold = sum(nodes.map(({ counts }) => counts.sold));
  const nodesInDoubt = sum(nodes.map(({ counts }) => counts.inDoubt));
  const unfinished = sum(nodes.map(({ inFlight }) => inFlight));
  const written = events.filter(({ type }) => type === 'wrote').length;
  const idle = sellers.filter((node) => !(figures.soldByNode[node] ?? 0));

  const claims: [holds: boolean, doubt: string][] = [
    [sent === requests, `${sent} requests were sent, not ${requests}.`],
    [sent === answers + errors, `${sent} requests were sent, but ${answers} were answered and ${errors} failed.`],
    [sent === received, `${sent} requests were sent, but the nodes counted ${received}.`],
    [
      sent === sold + refused + inDoubt,
      `${sent} requests were sent, but ${sold + refused + inDoubt} are accounted for.`,
    ],
    [tally.nonsense === 0, `${tally.nonsense} answers made no sense, such as: ${tally.nonsenseSample}`],
    [
      tally.failed === 0,
      `${tally.failed} sales failed, and no fault explains it: LOG_LEVEL=info shows the log of the nodes.`,
    ],
    [
      tally.lockTimeout <= sold + tally.soldOut,
      `${tally.lockTimeout} of ${sent} sales were refused, because the lock was not free in time.`,
    ],
    [dropped === 0, `${dropped} events were forgotten, so overlaps could not be counted: lower --requests.`],
    [unfinished === 0, `${unfinished} sales were still in flight at the end.`],
    [
      sold <= nodesSold && nodesSold <= sold + inDoubt,
      `${sold} sales were answered and ${inDoubt} are in doubt, but the nodes counted ${nodesSold} sold.`,
    ],
    [
      nodesSold <= written && written <= nodesSold + nodesInDoubt,
      `The nodes counted ${nodesSold} sold, but recorded ${written} stock writes.`,
    ],
    [
      finalStock >= expectedStock - inDoubt,
      `The stock is ${finalStock}, lower than the ${expectedStock} that the sales explain.`,
    ],
    [
      lostUpdates <= 0 || findLostUpdates(tally.sold).length > 0,
      `${lostUpdates} units were lost, but no two sales read the same stock.`,
    ],
    [sold > 0, 'Nothing was sold.'],
    [idle.length === 0, `Nothing was sold by ${idle.join(' and ')}.`],
    [sold === 0 || haveMet(events), 'No two sales were ever under way at the same moment, so nothing was tested.'],
  ];
  return claims.filter(([holds]) => !holds).map(([, doubt]) => doubt);
}

/** True when some sale asked for the lock while another had asked and not yet left. */
function haveMet(events: SaleEvent[]): boolean {
  const underWay = new Set<string>();
  for (const event of [...events].sort((a, b) => a.at - b.at)) {
    if (event.type === 'waiting') underWay.add(keyOf(event));
    if (event.type === 'left' || event.type === 'failed') underWay.delete(keyOf(event));
    if (underWay.size > 1) return true;
  }
  return false;
}

function countBy(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
