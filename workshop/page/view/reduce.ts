// What a moment of a run looks like: every record until then, put together.

import type { AnySentence, PlayEvent, Returned } from '../../../simulation/events.ts';

/** An event, whatever its sentences are. */
export type AnyEvent = PlayEvent<unknown, unknown>;
type NodeState = 'running' | 'killed' | 'stopped' | 'blocked';

export interface ShownNode {
  name: string;
  state: NodeState;
  waiting: string[];
  inside: string[];
  /** The last command that was answered, or sent where no answer is seen, and how often the same came in a row. */
  asked?: { verb: string; returned?: Returned | undefined; times: number };
  /** The line of its file that its lock is at. */
  line?: number;
  /** When its event loop is free again. */
  blockedUntil?: number | undefined;
  /** What is held on its way to Redis. */
  held?: string | undefined;
}

export interface Moment<Told = AnySentence> {
  nodes: ShownNode[];
  lock?: string | undefined;
  /** Until the key of the lock is gone by itself, in milliseconds. */
  lockMs?: number | undefined;
  stock: number;
  sold: number;
  /** What the stock would be if each sale had taken its unit. */
  expected: number;
  /** What was said last. */
  said?: Told;
  /** The most failed tries for the lock in a row, at any node. */
  tries: number;
}

/** The moment at this time. */
export function momentAt<Told>(events: PlayEvent<Told, unknown>[], at: number): Moment<Told> {
  const nodes = ['node-1', 'node-2'].map((name): ShownNode => ({ name, state: 'running', waiting: [], inside: [] }));
  const first = events.find((event) => event.kind === 'redis')?.stock ?? 0;
  const moment: Moment<Told> = { nodes, stock: first, sold: 0, expected: first, tries: 0 };
  // On real servers no answer of Redis is seen.
  const asks = events.some(({ kind }) => kind === 'done') ? 'done' : 'command';
  let endsAt: number | undefined;
  for (const event of events) {
    if (event.at > at) break;
    if (event.kind === 'redis') {
      moment.lock = event.lock?.value;
      endsAt = event.lock?.endsAt;
      moment.stock = event.stock;
    } else if (event.kind === 'sentence') moment.said = event.sentence;
    else if (event.kind !== 'fault' && 'node' in event && (event.kind !== 'command' || asks === 'command')) {
      const node = nodes.find(({ name }) => name === event.node);
      if (node) apply(event, node, moment);
    }
  }
  if (endsAt !== undefined && endsAt <= at) moment.lock = undefined;
  moment.lockMs = moment.lock !== undefined && endsAt !== undefined ? endsAt - at : undefined;
  moment.expected = first - moment.sold;
  for (const node of nodes) if (node.blockedUntil !== undefined && node.blockedUntil <= at) node.state = 'running';
  return moment;
}

const states: Partial<Record<Extract<PlayEvent, { kind: 'node' }>['is'], NodeState>> = {
  stopped: 'stopped',
  killed: 'killed',
  blocked: 'blocked',
  resumed: 'running',
  'started again': 'running',
};

function apply(event: Extract<AnyEvent, { node: string }>, node: ShownNode, moment: Moment<unknown>) {
  switch (event.kind) {
    case 'node':
      node.state = states[event.is] ?? node.state;
      if (states[event.is] === undefined) break;
      node.blockedUntil = event.is === 'blocked' && event.ms !== undefined ? event.at + event.ms : undefined;
      if (event.is === 'killed') node.waiting = node.inside = [];
      break;
    case 'line':
      node.line = event.line;
      break;
    case 'held':
      node.held = event.verb;
      break;
    case 'let go':
      node.held = undefined;
      break;
    case 'command':
    case 'done': {
      const { verb, about, sale } = event;
      // Asked by the drill, to see the stock and whether the node is there.
      if (sale === undefined && about !== 'lock') break;
      const returned = event.kind === 'done' ? event.returned : undefined;
      const isSame = node.asked?.verb === verb && node.asked.returned === returned;
      node.asked = { verb, returned, times: isSame ? (node.asked?.times ?? 0) + 1 : 1 };
      if (returned === undefined || returned === null || returned === 0)
        moment.tries = Math.max(moment.tries, node.asked.times);
      break;
    }
    case 'sale':
      move(event.step, event.sale, node);
      if (event.step === 'wrote') moment.sold += 1;
  }
}

function move(what: string, sale: string, node: ShownNode) {
  const without = (sales: string[]) => sales.filter((each) => each !== sale);
  if (what === 'waiting') node.waiting = [...node.waiting, sale];
  if (what === 'entered') {
    node.waiting = without(node.waiting);
    node.inside = [...node.inside, sale];
  }
  if (what === 'left' || what === 'failed') {
    node.waiting = without(node.waiting);
    node.inside = without(node.inside);
  }
}

/** Who is at which line of the lock: the sale, where one of a letter is there alone, or the node. */
export function linesAt({ nodes }: Moment<unknown>): Record<number, string> {
  const at: Record<number, string> = {};
  for (const { name, line, waiting, inside } of nodes) {
    if (line === undefined) continue;
    const [sale = '', ...others] = [...waiting, ...inside];
    const who = others.length === 0 && isLetter(sale) ? sale : name;
    at[line] = at[line] === undefined ? who : `${at[line]}, ${who}`;
  }
  return at;
}

/** How many are inside at once. */
export const insideAt = ({ nodes }: Moment<unknown>) => nodes.reduce((count, { inside }) => count + inside.length, 0);
/** How many units are sold and still in stock. */
export const lostAt = ({ stock, expected }: Moment<unknown>) => Math.max(0, stock - expected);

/** A stretch of a run: from when until when something was so, in milliseconds. */
export interface Span {
  from: number;
  until: number;
}
export interface Lane {
  sale: string;
  node: string;
  waits: Span[];
  inside: Span[];
}

/** The sales that have a letter, each with when it waited and when it was inside; and when the key of the lock was there. */
export function lanesOf(events: AnyEvent[], until: number): { lanes: Lane[]; lock: Span[] } {
  const lanes = new Map<string, Lane>();
  const end = (span: Span | undefined, at: number) => {
    if (span?.until === until) span.until = at;
  };
  const lock: Span[] = [];
  for (const event of events) {
    const { at } = event;
    if (event.kind === 'redis') {
      const last = lock.at(-1);
      const isOn = last !== undefined && last.until >= at;
      const ends = event.lock?.endsAt ?? until;
      if (event.lock === undefined) {
        if (isOn) last.until = at;
      } else if (isOn) last.until = ends;
      else lock.push({ from: at, until: ends });
    }
    if (event.kind === 'node' && event.is === 'killed')
      for (const lane of lanes.values()) if (lane.node === event.node) end(lane.inside.at(-1) ?? lane.waits.at(-1), at);
    if (event.kind !== 'sale' || !isLetter(event.sale)) continue;
    const { sale, node, step: what } = event;
    const lane = lanes.get(sale) ?? { sale, node, waits: [], inside: [] };
    lanes.set(sale, lane);
    if (what === 'waiting') lane.waits.push({ from: at, until });
    if (what === 'entered') {
      end(lane.waits.at(-1), at);
      lane.inside.push({ from: at, until });
    }
    if (what === 'left' || what === 'failed') {
      end(lane.waits.at(-1), at);
      end(lane.inside.at(-1), at);
    }
  }
  return {
    lanes: [...lanes.values()],
    lock: lock.map(({ from, until: to }) => ({ from, until: Math.min(to, until) })),
  };
}

/** The times at which one stops when one goes step by step: at each sentence, at each step of a sale that has a letter, and when a fault begins or ends. */
export function stopsOf(runs: AnyEvent[][]): number[] {
  const all = runs.flat();
  if (all.length === 0) return [];
  const until = Math.max(0, ...all.map(({ at }) => at));
  const from = Math.min(until, ...all.map(({ at }) => at));
  if (!isTold(all)) return Array.from({ length: PARTS + 1 }, (_, part) => from + ((until - from) * part) / PARTS);
  const times = all.flatMap((event) => {
    if (event.kind === 'sale') return isLetter(event.sale) && event.step !== 'left' ? [event.at] : [];
    if (event.kind === 'node' && event.is === 'blocked') return [event.at, Math.min(until, event.at + (event.ms ?? 0))];
    return STOPS.has(event.kind) ? [event.at] : [];
  });
  // What follows within a moment belongs to it: one stops after it.
  const sorted = [...new Set([from, ...times, until])].toSorted((a, b) => a - b);
  return sorted.filter(
    (at, index) => index === 0 || index === sorted.length - 1 || (sorted[index + 1] ?? at) - at > MOMENT_MS,
  );
}

const STOPS = new Set<PlayEvent['kind']>(['sentence', 'node', 'held', 'let go']);

/** It has sentences. */
export const isTold = (events: AnyEvent[]) => events.some(({ kind }) => kind === 'sentence');
/** The name of a sale that the scenario speaks of; of any other it is a number. */
export const isLetter = (sale: string) => /^[A-Z]$/.test(sale);

/** A run without sentences is shown in so many parts. */
const PARTS = 12;
const MOMENT_MS = 2;
