import type { NodeState, SaleEvent } from '../harness/lab-client.ts';
import type { Tally } from '../harness/load.ts';
import { countOf, formatNumber } from './numbers.ts';
import type { RushFigures, StockPoint, Verdict } from './results.ts';

const MAX_POINTS = 200;

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
}

/** Sales that read the same stock: all but one of them are lost. */
export interface LostUpdate {
  stockBefore: number;
  /** Who read it, and when: milliseconds since the drill began, if it is known. */
  sales: Reader[];
}

interface Reader {
  saleId: string;
  node: string;
  readMs?: number | undefined;
}

/** A holder's hold in the critical section. Ends at `Infinity` for a holder that never left. */
export interface Hold {
  node: string;
  saleId: string;
  entered: number;
  left: number;
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
    ...(conflicts > 0 && { conflicts }),
    throughput: tally.durationMs > 0 ? sold / (tally.durationMs / 1000) : 0,
    ...(sold > 0 && {
      latencyMs: {
        p50: percentile(latencies, 0.5),
        p95: percentile(latencies, 0.95),
        p99: percentile(latencies, 0.99),
        max: percentile(latencies, 1),
      },
    }),
    ...(redisCommands !== undefined &&
      redisCommands >= 0 &&
      tally.sent > 0 && { redisCommandsPerSale: redisCommands / tally.sent }),
    soldByNode: countBy(tally.sold.map(({ node }) => node)),
  };
}

/**
 * The verdict on a rush. `unknown` when the accounts do not close: requests sent = answers + errors = what the nodes
 * counted, sold + refused + in doubt = sent, and the stock is what the sales can explain. Otherwise `fail` when a sale was
 * lost, a unit was sold twice, or two holders met.
 */
export function judge(evidence: Evidence, figures: RushFigures): { verdict: Verdict; reasons: string[] } {
  const doubts = findDoubts(evidence, figures);
  if (doubts.length > 0) return { verdict: 'unknown', reasons: doubts };

  const { sold, initialStock, finalStock, expectedStock, lostUpdates, oversold, overlaps = 0, inDoubt } = figures;
  const instead = `${formatNumber(finalStock)} instead of ${formatNumber(expectedStock)}`;
  const faults = [
    ...(lostUpdates > 0 ? [`The stock is ${instead}: ${countOf(lostUpdates, 'sale')} lost.`] : []),
    ...(oversold > 0
      ? [`${countOf(sold, 'unit')} sold of ${formatNumber(initialStock)}: ${formatNumber(oversold)} too many.`]
      : []),
    ...(overlaps > 0 ? [`Two holders inside at the same moment: ${countOf(overlaps, 'time')}.`] : []),
  ];
  if (faults.length > 0) return { verdict: 'fail', reasons: faults };
  if (inDoubt > 0) {
    return { verdict: 'unknown', reasons: [`${countOf(inDoubt, 'sale')} in doubt, and no fault explains it.`] };
  }
  return {
    verdict: 'pass',
    reasons: [`${countOf(sold, 'unit')} sold, and the stock is ${formatNumber(finalStock)}, as expected.`],
  };
}

/** Everything that does not add up, a sentence each. */
export function findDoubts(evidence: Evidence, figures: RushFigures): string[] {
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
    [tally.failed === 0, `${tally.failed} sales failed, and no fault explains it: the log of the nodes may.`],
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

/** Groups of sales that read the same stock, those over more nodes first, then those of more sales. Each group is a witness of a lost update. */
export function findLostUpdates(readers: (Reader & { stockBefore: number })[]): LostUpdate[] {
  const groups = new Map<number, Reader[]>();
  for (const { stockBefore, saleId, node, readMs } of readers) {
    const sales = groups.get(stockBefore) ?? [];
    sales.push({ saleId, node, readMs });
    groups.set(stockBefore, sales);
  }
  return [...groups]
    .filter(([, sales]) => sales.length > 1)
    .map(([stockBefore, sales]) => ({ stockBefore, sales }))
    .sort((a, b) => nodesOf(b) - nodesOf(a) || b.sales.length - a.sales.length || b.stockBefore - a.stockBefore);
}

function nodesOf({ sales }: LostUpdate): number {
  return new Set(sales.map(({ node }) => node)).size;
}

/**
 * "sale 0812 on node-1 (at 1.234 s) and sale 0815 on node-2 (at 1.236 s) both read stock 57": two nodes are named where there
 * are two.
 */
export function describeLostUpdate({ stockBefore, sales }: LostUpdate): string {
  const elsewhere = sales.find(({ node }) => node !== sales[0]?.node);
  const ordered = elsewhere ? [sales[0], elsewhere, ...sales.slice(1).filter((sale) => sale !== elsewhere)] : sales;
  const [first, second, ...others] = ordered.map((sale) => sale && nameReader(sale));
  if (others.length === 0) return `${first} and ${second} both read stock ${stockBefore}`;
  const more = others.length === 1 ? '1 other sale' : `${others.length} other sales`;
  return `${first}, ${second} and ${more} all read stock ${stockBefore}`;
}

function nameReader({ readMs, ...sale }: Reader) {
  return readMs === undefined ? nameOf(sale) : `${nameOf(sale)} (at ${seconds(readMs)})`;
}

/** When each sale was under way, from its first look at the stock on: under a lock or, beyond stage 8, without one. */
export function spansOf(events: SaleEvent[]): Hold[] {
  return holdsOf(events.map((event) => (event.type === 'began' ? { ...event, type: 'entered' } : event)));
}

/** When each holder was inside, by the order of entering. */
export function holdsOf(events: SaleEvent[]): Hold[] {
  const holds = new Map<string, Hold>();
  for (const { type, node, saleId, at } of events) {
    const key = `${node} ${saleId}`;
    if (type === 'entered') holds.set(key, { node, saleId, entered: at, left: Number.POSITIVE_INFINITY });
    const hold = holds.get(key);
    if (type === 'left' && hold) hold.left = at;
  }
  return [...holds.values()].sort((a, b) => a.entered - b.entered);
}

/** Two holders that were inside at the same moment, and from when until when. */
export interface Overlap {
  first: Hold;
  second: Hold;
  from: number;
  until: number;
}

/** Every pair of holds that overlap, by the moment at which the second one entered. */
export function overlapsBetween(holds: Hold[]): Overlap[] {
  const byEntering = holds.filter(({ entered, left }) => left > entered).sort((a, b) => a.entered - b.entered);
  return byEntering.flatMap((second, index) =>
    byEntering
      .slice(0, index)
      .filter((first) => first.left > second.entered)
      .map((first) => ({ first, second, from: second.entered, until: Math.min(first.left, second.left) })),
  );
}

/** "sale 0001 on node-1 and sale 0002 on node-2 were both inside, from 1.02 s to 2.51 s": seconds since `startedAt`. */
export function describeOverlap({ first, second, from, until }: Overlap, startedAt: number): string {
  const time = until === Number.POSITIVE_INFINITY ? 'on, and neither left' : `to ${seconds(until - startedAt)}`;
  return `${nameOf(first)} and ${nameOf(second)} were both inside, from ${seconds(from - startedAt)} ${time}`;
}

function nameOf({ saleId, node }: { saleId: string; node: string }) {
  return `sale ${saleId} on ${node}`;
}

/** `1234.5` milliseconds as `1.235 s`. */
function seconds(ms: number) {
  return `${(ms / 1000).toFixed(3)} s`;
}

/** How many pairs of holds overlap. One that begins at the very moment another ends does not overlap it. */
export function countOverlaps(holds: Hold[]): number {
  const real = holds.filter(({ entered, left }) => left > entered);
  const byEntering = real.sort((a, b) => a.entered - b.entered);
  const ends = real.map(({ left }) => left).sort((a, b) => a - b);
  let overlaps = 0;
  let ended = 0;
  byEntering.forEach(({ entered }, alreadyEntered) => {
    while ((ends[ended] ?? Number.POSITIVE_INFINITY) <= entered) ended += 1;
    overlaps += alreadyEntered - ended;
  });
  return overlaps;
}

/** The stock after each write, and what it should have been by then, thinned out evenly. */
export function stockOverTime(events: SaleEvent[], initialStock: number): StockPoint[] {
  const writes = events
    .filter(({ type, stock }) => type === 'wrote' && stock !== undefined)
    .sort((a, b) => a.at - b.at);
  const startedAt = Math.min(...events.slice(0, 1).map(({ at }) => at), writes[0]?.at ?? 0);
  const points = writes.map(({ at, stock = 0 }, index) => ({
    ms: at - startedAt,
    stock,
    expected: initialStock - index - 1,
  }));
  if (points.length <= MAX_POINTS) return points;
  const step = (points.length - 1) / (MAX_POINTS - 1);
  return Array.from({ length: MAX_POINTS }, (_, index) => points[Math.round(index * step)]).filter(
    (point) => point !== undefined,
  );
}

/** True when some sale asked for the lock while another had asked and not yet left. */
function haveMet(events: SaleEvent[]): boolean {
  const underWay = new Set<string>();
  for (const { type, node, saleId } of [...events].sort((a, b) => a.at - b.at)) {
    if (type === 'waiting') underWay.add(`${node} ${saleId}`);
    if (type === 'left' || type === 'failed') underWay.delete(`${node} ${saleId}`);
    if (underWay.size > 1) return true;
  }
  return false;
}

/** Requests without an answer, and answers that do not say whether the sale took place. */
function inDoubtOf({ sent, answers, indefinite, nonsense }: Tally): number {
  return Math.max(0, sent - answers) + indefinite + nonsense;
}

/** The smallest value that at least this share of the sorted values does not exceed (nearest rank). */
function percentile(sorted: number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

function countBy(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
