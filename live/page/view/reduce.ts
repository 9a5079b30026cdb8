// What a moment of a run looks like: every record until then, put together.

import type { SearchSentence } from '../../../prove/wording.ts';
import type { NodeState, PlayRecord } from '../records.ts';

export interface ShownNode {
  name: string;
  state: NodeState;
  waiting: string[];
  inside: string[];
  /** The last command that was answered, and how often the same came in a row. */
  asked?: { verb: string; reply?: string | undefined; times: number };
  /** The line of its file that its lock is at. */
  line?: number;
  /** What is held on its way to Redis. */
  held?: string | undefined;
}

export interface Moment {
  nodes: ShownNode[];
  lock?: string | undefined;
  /** Until the key of the lock is gone by itself, in milliseconds. */
  lockMs?: number | undefined;
  stock: number;
  sold: number;
  /** What the stock would be if each sale had taken its unit. */
  expected: number;
  /** The sentence that is played. */
  line?: string | SearchSentence;
  /** The most failed tries for the lock in a row, at any node. */
  tries: number;
}

const FAILED = /^(null|0)$/;
/** Asked by the drill, to see the stock and whether the node is there. */
const OF_HARNESS = /^(MGET|PING)\b/;

/** The moment at this time. */
export function momentAt(records: PlayRecord[], at: number): Moment {
  const nodes = ['node-1', 'node-2'].map((name): ShownNode => ({ name, state: 'running', waiting: [], inside: [] }));
  const first = records.find((record) => record.type === 'redis')?.stock ?? 0;
  const moment: Moment = { nodes, stock: first, sold: 0, expected: first, tries: 0 };
  let endsAt: number | undefined;
  for (const record of records) {
    if (record.at > at) break;
    if (record.type === 'redis') {
      moment.lock = record.lock;
      endsAt = record.endsAt;
      moment.stock = record.stock;
    } else if (record.type === 'sentence') moment.line = record.search ?? record.line;
    else {
      const node = nodes.find(({ name }) => name === record.node);
      if (node) apply(record, node, moment);
    }
  }
  if (endsAt !== undefined && endsAt <= at) moment.lock = undefined;
  moment.lockMs = moment.lock !== undefined && endsAt !== undefined ? endsAt - at : undefined;
  moment.expected = first - moment.sold;
  return moment;
}

function apply(record: Exclude<PlayRecord, { type: 'redis' | 'sentence' }>, node: ShownNode, moment: Moment) {
  switch (record.type) {
    case 'process':
      node.state = record.state;
      if (record.state === 'killed') node.waiting = node.inside = [];
      break;
    case 'line':
      node.line = record.line;
      break;
    case 'held':
      node.held = record.verb;
      break;
    case 'command': {
      const { verb, reply } = record;
      if (OF_HARNESS.test(verb)) break;
      const isSame = node.asked?.verb === verb && node.asked.reply === reply;
      node.asked = { verb, reply, times: isSame ? (node.asked?.times ?? 0) + 1 : 1 };
      if (reply === undefined || FAILED.test(reply)) moment.tries = Math.max(moment.tries, node.asked.times);
      break;
    }
    case 'sale':
      move(record.what, record.sale, node);
      if (record.what === 'wrote') moment.sold += 1;
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
export function linesAt({ nodes }: Moment): Record<number, string> {
  const at: Record<number, string> = {};
  for (const { name, line, waiting, inside } of nodes) {
    if (line === undefined) continue;
    const [sale = '', ...others] = [...waiting, ...inside];
    const who = others.length === 0 && /^[A-Z]$/.test(sale) ? sale : name;
    at[line] = at[line] === undefined ? who : `${at[line]}, ${who}`;
  }
  return at;
}

/** How many are inside at once. */
export const insideAt = ({ nodes }: Moment) => nodes.reduce((count, { inside }) => count + inside.length, 0);
/** How many units are sold and still in stock. */
export const lostAt = ({ stock, expected }: Moment) => Math.max(0, stock - expected);

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
export function lanesOf(records: PlayRecord[], until: number): { lanes: Lane[]; lock: Span[] } {
  const lanes = new Map<string, Lane>();
  const end = (span: Span | undefined, at: number) => {
    if (span?.until === until) span.until = at;
  };
  const lock: Span[] = [];
  for (const record of records) {
    const { at } = record;
    if (record.type === 'redis') {
      const last = lock.at(-1);
      const isOn = last !== undefined && last.until >= at;
      if (record.lock === undefined) {
        if (isOn) last.until = at;
      } else if (isOn) last.until = record.endsAt ?? until;
      else lock.push({ from: at, until: record.endsAt ?? until });
    }
    if (record.type === 'process' && record.state === 'killed')
      for (const lane of lanes.values())
        if (lane.node === record.node) end(lane.inside.at(-1) ?? lane.waits.at(-1), at);
    if (record.type !== 'sale' || !/^[A-Z]$/.test(record.sale)) continue;
    const { sale, node, what } = record;
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
export function stopsOf(runs: PlayRecord[][]): number[] {
  const all = runs.flat();
  if (all.length === 0) return [];
  const isTold = all.some(({ type }) => type === 'sentence');
  const until = Math.max(0, ...all.map(({ at }) => at));
  const from = Math.min(until, ...all.map(({ at }) => at));
  if (!isTold) return Array.from({ length: PARTS + 1 }, (_, part) => from + ((until - from) * part) / PARTS);
  const isStop = (record: PlayRecord) =>
    record.type === 'sale'
      ? /^[A-Z]$/.test(record.sale) && record.what !== 'left'
      : /^(sentence|process|held)$/.test(record.type);
  const times = all.filter(isStop).map(({ at }) => at);
  // What follows within a moment belongs to it: one stops after it.
  const sorted = [...new Set([from, ...times, until])].toSorted((a, b) => a - b);
  return sorted.filter(
    (at, index) => index === 0 || index === sorted.length - 1 || (sorted[index + 1] ?? at) - at > MOMENT_MS,
  );
}

/** A run without sentences is shown in so many parts. */
const PARTS = 12;
const MOMENT_MS = 2;
