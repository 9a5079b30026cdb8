// What happened in a drill that failed, as sentences and as the text of a mermaid sequence diagram.

import { formatSeconds } from '../evidence/numbers.ts';
import type { DrillResult, Timeline } from '../evidence/results.ts';
import { escapeMermaid } from '../prove/mermaid.ts';

/** How many sales are shown at most: those that met or lost a unit, then those that were hit, then the first. */
const MOST_LANES = 4;

type Lane = Timeline['lanes'][number];

interface Moment {
  ms: number;
  /** The places of the lanes that it is about; all of them when there are none. */
  lanes: number[];
  /** What a fault hits: a node or one of its sales; nothing when it hits a server. */
  hit?: string;
  text: string;
  /** What goes to the stock or comes from it. */
  stock?: 'reads' | 'writes';
}

/** A drill as it went, cut down to the sales that tell it. Undefined when no sale has a place in it. */
export function sequenceOf({ timeline, witnesses }: DrillResult): { sentences: string[]; diagram: string } | undefined {
  if (timeline === undefined || timeline.lanes.length === 0) return undefined;
  const lanes = chooseLanes(timeline, witnesses.join(' '));
  const moments = momentsOf(timeline, lanes);
  return { sentences: moments.map((moment) => sentence(moment, lanes)), diagram: diagram(moments, lanes) };
}

/** Sales of one node may have the numbers of another's. */
const nameOf = ({ node, saleId }: Lane) => `sale ${saleId} on ${node}`;

function chooseLanes({ lanes, overlaps, faults }: Timeline, witnesses: string): Lane[] {
  const met = new Set(overlaps.flatMap(({ lanes: [one, other] }) => [one, other]));
  const weight = (lane: Lane, at: number) => {
    if (witnesses.includes(nameOf(lane))) return 0;
    if (met.has(at)) return 1;
    if (faults.some(({ node, saleId }) => saleId === lane.saleId && node === lane.node)) return 2;
    return lane.inside === undefined ? 4 : 3;
  };
  const ranked = lanes.map((lane, at) => ({ lane, at, weight: weight(lane, at) }));
  const chosen = ranked.toSorted((a, b) => a.weight - b.weight || a.at - b.at).slice(0, MOST_LANES);
  return chosen.toSorted((a, b) => a.at - b.at).map(({ lane }) => lane);
}

function momentsOf({ lanes: all, faults, overlaps }: Timeline, lanes: Lane[]): Moment[] {
  const ofLanes = lanes.flatMap(({ askedMs, inside, read, wrote, endedMs }, at): Moment[] => [
    { ms: askedMs, lanes: [at], text: 'asks for the lock' },
    ...(inside ? [{ ms: inside.fromMs, lanes: [at], text: 'has the lock' }] : []),
    ...(read ? [{ ms: read.ms, lanes: [at], text: `reads ${read.stock}`, stock: 'reads' as const }] : []),
    ...(wrote ? [{ ms: wrote.ms, lanes: [at], text: `writes ${wrote.stock}`, stock: 'writes' as const }] : []),
    ...(inside && (endedMs === undefined || inside.untilMs <= endedMs)
      ? [{ ms: inside.untilMs, lanes: [at], text: wrote ? 'leaves' : 'leaves, and no write of it is confirmed' }]
      : []),
    ...(!inside && endedMs !== undefined ? [{ ms: endedMs, lanes: [at], text: 'ends, and never had the lock' }] : []),
  ]);
  const ofFaults = faults.flatMap(({ label, fromMs, untilMs, node, saleId }): Moment[] => {
    const hit = lanes.flatMap((lane, at) => {
      const isHit = lane.node === node && (saleId === undefined || lane.saleId === saleId);
      return isHit ? [at] : [];
    });
    // What hits a sale that is not shown is not shown either.
    if (node !== undefined && hit.length === 0) return [];
    const whole = { lanes: hit, hit: saleId === undefined ? node : `sale ${saleId} on ${node}` };
    return [
      { ms: fromMs, text: label, ...whole },
      ...(untilMs === undefined ? [] : [{ ms: untilMs, text: `${label}, until now`, ...whole }]),
    ];
  });
  const ofOverlaps = overlaps.flatMap(({ fromMs, lanes: pair }): Moment[] => {
    const both = pair.map((place) => lanes.indexOf(all[place] as Lane));
    return both.includes(-1) ? [] : [{ ms: fromMs, lanes: both, text: 'both are inside' }];
  });
  // `both are inside` comes after the entry that made it so.
  return [...ofLanes, ...ofFaults, ...ofOverlaps].toSorted((a, b) => a.ms - b.ms);
}

function sentence({ ms, lanes: at, hit, text }: Moment, lanes: Lane[]): string {
  if (hit !== undefined) return `${formatSeconds(ms)}: ${hit}: ${text}.`;
  const names = at.map((place) => nameOf(lanes[place] as Lane));
  if (names.length === 0) return `${formatSeconds(ms)}: ${text}.`;
  if (text === 'both are inside') return `${formatSeconds(ms)}: ${names.join(' and ')} are both inside.`;
  return `${formatSeconds(ms)}: ${names.join(' and ')} ${text}.`;
}

function diagram(moments: Moment[], lanes: Lane[]): string {
  const ids = lanes.map((_, at) => String.fromCharCode('A'.charCodeAt(0) + at));
  const [first = 'S'] = ids;
  const lines = moments.map(({ ms, lanes: at, text, stock }) => {
    const said = escapeMermaid(`${formatSeconds(ms)} ${text}`);
    const [place] = at;
    if (place === undefined) return `Note over ${first},S: ${said}`;
    if (stock === 'writes') return `${ids[place]}->>S: ${said}`;
    if (stock === 'reads') return `S-->>${ids[place]}: ${said}`;
    const ends = [Math.min(...at), Math.max(...at)].map((end) => ids[end]);
    return `Note over ${[...new Set(ends)].join(',')}: ${said}`;
  });
  const participants = lanes.map((lane, at) => `participant ${ids[at]} as ${nameOf(lane)}`);
  return ['sequenceDiagram', ...participants, 'participant S as stock', ...lines].join('\n  ');
}
