// What happened in a drill, as it is drawn: lanes, leases, faults and overlaps.

import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { type Hold, holdsOf, isSame, keyOf, type SaleName, spansOf } from './history.ts';
import { type Overlap, overlapsBetween } from './overlaps.ts';
import type { Timeline } from './results.ts';

/** How many lanes are drawn. */
const MAX_LANES = 12;

/** Something that the drill did on purpose, in milliseconds on the shared clock. */
export interface Fault {
  label: string;
  from: number;
  /** When it was over; absent for a moment. */
  until?: number;
  /** The node that it hits, and the sale if it hits one alone; absent when it hits all. */
  node?: string;
  saleId?: string;
}

/** What Redis held under the lock's key at one moment. */
export interface LeaseSample {
  /** Milliseconds on the clock that all processes of this host share. */
  at: number;
  /** The value, or the first field of a hash: the owner token, under stages that have one. Absent when there is no key. */
  owner?: string;
  /** How long the key has to live, in milliseconds; `Infinity` without an end. */
  ttlMs: number;
}

export interface TimelineParts {
  /** When the drill began and ended, in milliseconds on the shared clock. */
  from: number;
  until: number;
  events: SaleEvent[];
  /** Which holders may not meet; all when it is not given. */
  isJudged?: (hold: Hold) => boolean;
  samples: LeaseSample[];
  /** The sale that an owner token names, if it names one. */
  ownerOf: (token: string) => SaleName | undefined;
  faults: Fault[];
}

type Lane = Timeline['lanes'][number];

/** A lane for each sale, and in it what its node recorded and what Redis held. */
export function timelineOf({
  from,
  until,
  events,
  isJudged = () => true,
  samples,
  ownerOf,
  faults,
}: TimelineParts): Timeline {
  const since = (at: number) => Math.min(Math.max(0, at - from), until - from);
  const span = (range: { from: number; until: number }) => ({ fromMs: since(range.from), untilMs: since(range.until) });
  const holds = holdsOf(events);
  const spans = spansOf(events);
  const overlaps = overlapsBetween(holds.filter(isJudged));
  const sales = salesOf(events);
  const shown = choose(sales, overlaps, faults);
  const leases = leasesOf(samples, (at, token, hadIt) => {
    const owner = ownerOf(token);
    if (owner) return holds.findLast((hold) => hold.entered <= at && isSame(hold, owner));
    const last = holds.findLast((hold) => hold.entered <= at);
    return last !== undefined && hadIt(last) ? holds.find((hold) => hold.entered > at) : last;
  });
  const lanes = shown.map((sale): Lane => {
    const own = events.filter((event) => isSame(event, sale));
    const hold = spans.findLast((span) => isSame(span, sale));
    const [read, wrote] = [own.find(({ type }) => type === 'read'), own.find(({ type }) => type === 'wrote')];
    return {
      node: sale.node,
      saleId: sale.saleId,
      askedMs: since(sale.at),
      ...(hold && { inside: span({ from: hold.entered, until: hold.left }) }),
      ...(read?.stock !== undefined && { read: { ms: since(read.at), stock: read.stock } }),
      ...(wrote?.stock !== undefined && { wrote: { ms: since(wrote.at), stock: wrote.stock } }),
      ...(sale.ended < Number.POSITIVE_INFINITY && { endedMs: since(sale.ended) }),
      leases: leases.filter((lease) => isSame(lease.hold, sale)).map(span),
    };
  });

  const placeOf = (hold: Hold) => shown.findIndex((sale) => isSame(sale, hold));
  return {
    durationMs: until - from,
    lanes,
    moreLanes: sales.length - shown.length,
    faults: faults.map(({ from, until, ...fault }) => ({
      ...fault,
      fromMs: since(from),
      ...(until !== undefined && { untilMs: since(until) }),
    })),
    overlaps: overlaps
      .map(({ first, second, from, until }) => ({
        ...span({ from, until }),
        lanes: [placeOf(first), placeOf(second)] as [number, number],
      }))
      .filter(({ lanes }) => !lanes.includes(-1)),
  };
}

interface Sale extends SaleName {
  /** When it asked for the lock, and when its node was done with it: `Infinity` if it never was. */
  at: number;
  ended: number;
  hasEntered: boolean;
}

function salesOf(events: SaleEvent[]): Sale[] {
  const sales = new Map<string, Sale>();
  for (const { type, node, saleId, at } of events) {
    const key = keyOf({ node, saleId });
    if (type === 'waiting') sales.set(key, { node, saleId, at, ended: Number.POSITIVE_INFINITY, hasEntered: false });
    const sale = sales.get(key);
    if (sale && (type === 'entered' || type === 'began')) sale.hasEntered = true;
    if (sale && (type === 'left' || type === 'failed')) sale.ended = at;
  }
  return [...sales.values()];
}

/**
 * The first sale, those that were inside together with another, those nearest to the beginning and the end of each fault in
 * turn, then the others: as many as there is room for, in the order of asking.
 */
function choose(sales: Sale[], overlaps: Overlap[], faults: Fault[]): Sale[] {
  if (sales.length <= MAX_LANES) return sales;
  const met = new Set(overlaps.flatMap(({ first, second }) => [keyOf(first), keyOf(second)]));
  const edges = faults.flatMap(({ from, until = from }) => [from, until]);
  const nearest = edges.map((edge) => [...sales].sort((a, b) => distance(a, edge) - distance(b, edge)));
  const ranked = [
    ...sales.slice(0, 1),
    ...sales.filter((sale) => met.has(keyOf(sale))),
    ...Array.from({ length: MAX_LANES }, (_, place) => nearest.flatMap((sales) => sales[place] ?? [])).flat(),
    ...sales,
  ];
  const chosen = new Set<Sale>();
  for (const sale of ranked) if (chosen.size < MAX_LANES) chosen.add(sale);
  return sales.filter((sale) => chosen.has(sale));
}

/** How far a sale is from a moment: 0 for one that is under way. Of those equally near one that entered tells more. */
function distance({ at, ended, hasEntered }: Sale, moment: number) {
  const isUnderWay = at <= moment && moment <= ended;
  return (isUnderWay ? 0 : Math.min(Math.abs(at - moment), Math.abs(ended - moment))) + (hasEntered ? 0 : 0.5);
}

/**
 * The times at which the key was seen in Redis, and whose it was: the sale that its value names. Where the value names none, as under the
 * stages 2 to 4, it is the sale that entered last before; and if that one had the key and it was gone since, the sale that enters next.
 */
function leasesOf(
  samples: LeaseSample[],
  holderAt: (at: number, token: string, hadIt: (hold: Hold) => boolean) => Hold | undefined,
) {
  const leases: { hold: Hold; from: number; until: number }[] = [];
  let last: (typeof leases)[number] | undefined;
  samples.forEach(({ at, owner, ttlMs }, index) => {
    const hadIt = (hold: Hold) => last?.hold !== hold && leases.some((lease) => lease.hold === hold);
    const holder = owner === undefined ? undefined : holderAt(at, owner, hadIt);
    // Nobody looked between two samples: until the second one it was as the first one says, or its time ran out.
    const until = Math.min(samples[index + 1]?.at ?? Number.POSITIVE_INFINITY, at + ttlMs);
    if (holder === undefined) last = undefined;
    else if (last?.hold === holder) last.until = until;
    else {
      last = { hold: holder, from: at, until };
      leases.push(last);
    }
  });
  return leases;
}
