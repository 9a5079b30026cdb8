// The timeline of a drill: lanes, leases, faults and overlaps.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { type Deed, labelOf } from '../narration/faults.ts';
import { type Hold, holdsOf, isSame, keyOf, overlapsBetween, type SaleName, spansOf } from './history.ts';
import type { Timeline } from './results.ts';

/** How many lanes are drawn at most. */
const MAX_LANES = 8;
/** A fault that the drill caused, in milliseconds on the shared clock. */
export interface Fault {
  what: Deed;
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
  /** The units in stock, where Redis has them. */
  stock?: number;
}

/** The death of a node's process. A sale that was inside never leaves, and the next process counts its sales from 1 again. */
export interface Death {
  node: string;
  at: number;
}

export interface TimelineParts {
  /** When the drill began and ended, in milliseconds on the shared clock. */
  from: number;
  until: number;
  events: SaleEvent[];
  /** Each process of a node that died. */
  deaths?: Death[];
  /** Which holders may not meet; all when it is not given. */
  isJudged?: (hold: Hold) => boolean;
  samples: LeaseSample[];
  /** The sale that an owner token names, if it names one. */
  ownerOf: (token: string) => SaleName | undefined;
  faults: Fault[];
}

type Lane = Timeline['lanes'][number];

/** Makes a lane for each sale, with what its node recorded and what Redis held. */
export function timelineOf({ from, until, deaths = [], isJudged = () => true, ...seen }: TimelineParts): Timeline {
  const { events: recorded, samples, ownerOf, faults } = seen;
  const since = (at: number) => Math.min(Math.max(0, at - from), until - from);
  const span = (range: { from: number; until: number }) => ({ fromMs: since(range.from), untilMs: since(range.until) });
  const keyAt = (sale: SaleName, at: number) => `${keyOf(sale)} ${deathsBefore(deaths, sale.node, at)}`;
  const events = [...recorded, ...endsOf(recorded, deaths)].sort((a, b) => a.at - b.at);
  const holds = holdsOf(events);
  const spans = spansOf(events);
  const overlaps = overlapsBetween(holds.filter(isJudged));
  const sales = salesOf(events, keyAt);
  const keyOfHold = (hold: Hold) => keyAt(hold, hold.entered);
  // One meeting decides.
  const told = overlaps.slice(0, 1).flatMap(({ first, second }) => [keyOfHold(first), keyOfHold(second)]);
  const edges = faults.flatMap(({ from, until = from }) => [from, until]);
  const shown = choose(sales, new Set(told), edges);
  const leases = leasesOf(samples, (at, token, hadIt) => {
    const owner = ownerOf(token);
    if (owner) return holds.findLast((hold) => hold.entered <= at && isSame(hold, owner));
    const last = holds.findLast((hold) => hold.entered <= at);
    return last !== undefined && hadIt(last) ? holds.find((hold) => hold.entered > at) : last;
  });
  const lanes = shown.map((sale): Lane => {
    const own = events.filter((event) => isSame(event, sale) && keyAt(event, event.at) === sale.key);
    const hold = spans.findLast((span) => keyOfHold(span) === sale.key);
    const [read, wrote] = [own.find(({ type }) => type === 'read'), own.find(({ type }) => type === 'wrote')];
    return {
      node: sale.node,
      saleId: sale.saleId,
      askedMs: since(sale.at),
      ...(hold && { inside: span({ from: hold.entered, until: hold.left }) }),
      ...(read?.stock !== undefined && { read: { ms: since(read.at), stock: read.stock } }),
      ...(wrote?.stock !== undefined && { wrote: { ms: since(wrote.at), stock: wrote.stock } }),
      ...(sale.ended < Number.POSITIVE_INFINITY && { endedMs: since(sale.ended) }),
      leases: leases.filter((lease) => keyOfHold(lease.hold) === sale.key).map(span),
    };
  });

  const placeOf = (hold: Hold) => shown.findIndex(({ key }) => key === keyOfHold(hold));
  return {
    durationMs: until - from,
    lanes,
    moreLanes: sales.length - shown.length,
    faults: faults.map(({ what, from, until, ...fault }) => ({
      label: labelOf(what),
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

/** How many processes of a node had died before that moment. */
function deathsBefore(deaths: Death[], node: string, at: number): number {
  return deaths.filter((death) => death.node === node && death.at < at).length;
}

/** Ends the sales of a process that died: a sale that was inside is not any more, and one that waited never enters. */
function endsOf(events: SaleEvent[], deaths: Death[]): SaleEvent[] {
  return deaths.flatMap(({ node, at }) => {
    const isOfProcess = (event: SaleEvent) =>
      event.node === node && event.at <= at && deathsBefore(deaths, node, event.at) === deathsBefore(deaths, node, at);
    const last = new Map(events.filter(isOfProcess).map(({ saleId, type }) => [saleId, type]));
    const underWay = [...last].filter(([, type]) => type !== 'left' && type !== 'failed');
    return underWay.map(([saleId]): SaleEvent => ({ at, type: 'left', node, saleId }));
  });
}

interface Sale extends SaleName {
  /** Unlike its name it is that of no other sale. */
  key: string;
  /** When it asked for the lock, and when its node was done with it: `Infinity` if it never was. */
  at: number;
  ended: number;
}

function salesOf(events: SaleEvent[], keyAt: (sale: SaleName, at: number) => string): Sale[] {
  const sales = new Map<string, Sale>();
  for (const { type, node, saleId, at } of events) {
    const key = keyAt({ node, saleId }, at);
    if (type === 'waiting') sales.set(key, { key, node, saleId, at, ended: Number.POSITIVE_INFINITY });
    const sale = sales.get(key);
    if (sale && (type === 'left' || type === 'failed')) sale.ended = at;
  }
  return [...sales.values()];
}

/** The lanes to show: those that overlapped first, those in progress at one of these moments, and then the first ones. */
function choose(sales: Sale[], met: Set<string>, moments: number[]): Sale[] {
  const isUnderWay = ({ at, ended }: Sale) => moments.some((moment) => at <= moment && moment <= ended);
  const telling = [...sales.filter(({ key }) => met.has(key)), ...sales.filter(isUnderWay), ...sales];
  const chosen = new Set([...new Set(telling)].slice(0, MAX_LANES));
  return sales.filter((sale) => chosen.has(sale));
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
