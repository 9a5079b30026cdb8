// The account of a rush: the requests sent, answered, counted and sold, whether these numbers add up, and the verdict.

import type { NodeState, SaleEvent } from '../../services/inventory/sale/contract.ts';
import type { Sight } from '../narration/evidence.ts';
import { quantile, sum } from '../narration/numbers.ts';
import { because, explained, type Reason } from '../narration/reasons.ts';
import { inDoubtOf, type Sold, soldIn, type Tally } from './answers.ts';
import { freeSeen, freeWhileWanted, longestOf, type Span } from './free-time.ts';
import { countOverlaps, holdsOf, keyOf } from './history.ts';
import type { RushFigures, Verdict } from './results.ts';
import { findLostUpdates } from './stock.ts';

/** What the harness and the nodes saw of a rush. */
export interface Evidence {
  tally: Tally;
  /** How many requests should have been sent. */
  requests: number;
  initialStock: number;
  finalStock: number;
  /** The nodes after the last sale has ended. */
  nodes: NodeState[];
  /** The nodes that must have sold; none where that is not seen. */
  sellers: string[];
  /** The events of all nodes. Incomplete when `dropped` is above zero. */
  events: SaleEvent[];
  dropped: number;
  redisCommands: number | undefined;
  /** When the machine was stalled. */
  standstills: Span[];
  /** How long nobody may hold the lock although sales wait, in milliseconds. */
  freeLimitMs: number;
  /** How long the load may take, in milliseconds. */
  capMs: number;
}

/** The figures of the evidence. Each is measured, none relies on what a lock says about itself. */
export function measure(evidence: Evidence): RushFigures {
  const { tally, nodes, sellers, initialStock, finalStock, events, dropped, redisCommands } = evidence;
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
    soldByNode: countByNode(soldIn(tally), sellers),
  };
}

/**
 * The verdict on a rush. `unknown` when it took longer than it may, or when the accounts do not close: requests sent = answers +
 * errors = what the nodes counted, sold + refused + in doubt = sent, and the stock is what the sales can explain. Otherwise `fail`
 * when a sale was lost, a unit was sold twice, or two holders met. A lock that nobody held for too long although sales waited has
 * failed, also when it took too long or refused most of the sales.
 */
export function judge(
  evidence: Evidence,
  figures: RushFigures,
): { verdict: Verdict; says: Reason[]; reasons: string[] } {
  const { verdict, says } = conclude(evidence, figures);
  return { verdict, ...explained(says) };
}

/**
 * The verdict on a rush of a service whose nodes tell nothing, from its answers, the final stock, and how many writes came from each node.
 * `fail` when more answers say sold than units are gone, when the stock is below zero, and when units are gone that nobody was told of;
 * `unknown` when requests were lost on the way that may explain it, or when nothing was at stake.
 */
export function judgeByAnswers(evidence: Evidence, figures: RushFigures): ReturnType<typeof judge> {
  const { tally, requests, capMs, nodes, sellers } = evidence;
  const { sold, initialStock, finalStock, lostUpdates, oversold, sent, answers, lockTimeout } = figures;
  const others = lockTimeout + tally.failed + tally.indefinite + tally.nonsense;
  const toNobody = -lostUpdates;
  const unanswered = sent - answers;
  const { inDoubt: doubtful, lockTimeout: refused, failed } = tally.samples;
  const answer = doubtful ?? refused ?? failed ?? '';
  const said = others > 0 ? [because('others answered', { others, answer })] : [];
  const of = (verdict: Verdict, ...says: Reason[]) => ({ verdict, ...explained(says) });
  const idle = sellers.filter((name) => nodes.some(({ node, counts }) => node === name && !counts.sold));

  const unwritten = sellers.length > 0 ? sold - sum(nodes.map(({ counts }) => counts.sold)) : 0;
  const notWritten = unwritten > 0 ? [because('sold without a write', { sales: unwritten })] : [];
  if (lostUpdates > 0 || oversold > 0) return of('fail', stockReason(figures), ...notWritten, ...said);
  if (finalStock < 0) return of('fail', because('stock below zero', { stock: finalStock }));
  const gone = initialStock - finalStock;
  if (toNobody > unanswered) return of('fail', because('units to nobody', { units: toNobody, sold, gone, answer }));
  if (tally.isCapped) return of('unknown', because('load too long', { ms: capMs, answers, requests }));
  if (sent !== requests) return of('unknown', because('not all sent', { sent, requests }));
  if (sold === 0) return of('unknown', because('nothing sold', {}), ...said);
  if (idle.length > 0) return of('unknown', because('nothing sold by', { nodes: idle }));
  if (toNobody > 0) return of('unknown', because('sales in doubt', { inDoubt: unanswered }));
  return of('pass', stockReason(figures), ...said);
}

function conclude(evidence: Evidence, figures: RushFigures): { verdict: Verdict; says: Reason[] } {
  const { tally, requests, capMs } = evidence;
  const late = because('load too long', { ms: capMs, answers: tally.answers, requests });
  const doubts = tally.isCapped ? [late] : findDoubts(evidence, figures);
  const free = freeFault(evidence, figures);
  if (doubts.length > 0 && free !== undefined && tally.failed === 0) {
    return { verdict: 'fail', says: [free, ...(tally.isCapped ? [late] : [])] };
  }
  if (doubts.length > 0) return { verdict: 'unknown', says: doubts };

  const { lostUpdates, oversold, overlaps = 0, inDoubt } = figures;
  const faults = [
    ...(lostUpdates > 0 || oversold > 0 ? [stockReason(figures)] : []),
    ...(overlaps > 0 ? [because('holders met', { overlaps })] : []),
    ...(free === undefined ? [] : [free]),
  ];
  if (faults.length > 0) return { verdict: 'fail', says: faults };
  if (inDoubt > 0) return { verdict: 'unknown', says: [because('sales in doubt', { inDoubt })] };
  return { verdict: 'pass', says: [stockReason(figures)] };
}

/** The sentence for units that are sold twice: sold, and still in stock. */
function stockReason({ sold, initialStock: units, finalStock: stock, ...figures }: RushFigures): Reason {
  const { expectedStock: expected, lostUpdates, oversold } = figures;
  if (oversold > 0 && stock === 0) return because('oversold to the last', { sold, units, oversold });
  if (oversold > 0) return because('oversold', { sold, units, stock, oversold });
  if (lostUpdates === 0) return because('stock as expected', { sold, stock });
  return because('stock not as expected', { sold, stock, expected, soldTwice: lostUpdates });
}

const longestFree = ({ events, standstills }: Evidence) => longestOf(freeWhileWanted(events), standstills);

/** From when until when a lock was free for too long although sales waited, and for whom, if it was. */
export function freeEvidence(evidence: Evidence, { longestFreeMs = 0 }: RushFigures): Sight[] {
  const { span } = longestFree(evidence);
  if (span === undefined || longestFreeMs <= evidence.freeLimitMs) return [];
  return [freeSeen(span, evidence.events[0]?.at ?? 0)];
}

/** The reason why a lock that was free while sales waited fails, if it does. */
function freeFault({ freeLimitMs }: Evidence, { longestFreeMs = 0, lockTimeout, sent }: RushFigures) {
  if (longestFreeMs <= freeLimitMs) return undefined;
  const ms = longestFreeMs;
  if (lockTimeout === 0) return because('lock unused', { ms });
  return because('lock unused and sales refused', { ms, refused: lockTimeout, sent });
}

/** Every number that does not add up. */
function findDoubts(evidence: Evidence, figures: RushFigures): Reason[] {
  const { tally, requests, nodes, sellers, events, dropped } = evidence;
  const { sent, answers, errors, received, sold, inDoubt, finalStock, expectedStock, lostUpdates } = figures;
  const refused = tally.soldOut + tally.lockTimeout + tally.failed;
  const nodesSold = sum(nodes.map(({ counts }) => counts.sold));
  const nodesInDoubt = sum(nodes.map(({ counts }) => counts.inDoubt));
  const unfinished = sum(nodes.map(({ inFlight }) => inFlight));
  const written = events.filter(({ type }) => type === 'wrote').length;
  const idle = sellers.filter((node) => !figures.soldByNode[node]);

  const counted = sold + refused + inDoubt;
  const claims: [holds: boolean, doubt: Reason][] = [
    [sent === requests, because('not all sent', { sent, requests })],
    [sent === answers + errors, because('not all answered', { sent, answers, errors })],
    [sent === received, because('not all received', { sent, received })],
    [sent === counted, because('not all accounted for', { sent, counted })],
    [
      tally.nonsense === 0,
      because('answers made no sense', { answers: tally.nonsense, sample: tally.samples.nonsense ?? '' }),
    ],
    [tally.failed === 0, because('sales failed', { failed: tally.failed })],
    [tally.lockTimeout <= sold + tally.soldOut, because('too many refused', { refused: tally.lockTimeout, sent })],
    [dropped === 0, because('events forgotten', { events: dropped })],
    [unfinished === 0, because('sales in flight', { sales: unfinished })],
    [
      sold <= nodesSold && nodesSold <= sold + inDoubt,
      because('nodes counted others sold', { sold, inDoubt, counted: nodesSold }),
    ],
    [
      nodesSold <= written && written <= nodesSold + nodesInDoubt,
      because('nodes recorded other writes', { counted: nodesSold, written }),
    ],
    [finalStock >= expectedStock - inDoubt, because('stock too low', { stock: finalStock, expected: expectedStock })],
    [
      lostUpdates <= 0 || findLostUpdates(soldIn(tally)).length > 0,
      because('losses unexplained', { units: lostUpdates }),
    ],
    [sold > 0, because('nothing sold', {})],
    [idle.length === 0, because('nothing sold by', { nodes: idle })],
    [sold === 0 || haveMet(events), because('sales never met', {})],
  ];
  return claims.filter(([holds]) => !holds).map(([, doubt]) => doubt);
}

/** True when a sale asked for the lock while another had asked and not yet left. */
function haveMet(events: SaleEvent[]): boolean {
  const underWay = new Set<string>();
  for (const event of [...events].sort((a, b) => a.at - b.at)) {
    if (event.type === 'waiting') underWay.add(keyOf(event));
    if (event.type === 'left' || event.type === 'failed') underWay.delete(keyOf(event));
    if (underWay.size > 1) return true;
  }
  return false;
}

/** How many units each node sold, including the nodes that sold nothing. */
function countByNode(sold: Sold[], sellers: string[]): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(sellers.map((node) => [node, 0]));
  for (const { node } of sold) counts[node] = (counts[node] ?? 0) + 1;
  return counts;
}
