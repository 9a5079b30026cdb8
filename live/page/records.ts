// What happened in a cell, as one list of records that a picture is drawn of: made of the log, the history and what Redis has heard.

import type { SearchSentence } from '../../prove/wording.ts';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { lockKeys, stockKey } from '../../services/inventory/store.ts';
import type { Lab } from '../../virtual/lab.ts';
import { createSchedule } from '../../virtual/schedule.ts';
import { type Heard, OUTSIDE, openServer } from '../../virtual/server.ts';
import type { Reply } from '../../virtual/valkey.ts';

const SKU = '001';
/** So long after the last sale its release is seen, in milliseconds. */
const RELEASE_MS = 5;

/** `at`: milliseconds of the virtual clock. */
export type PlayRecord = {
  at: number;
} /** Of the search and its game there is no line of a page: what happened in a step is said. */ & (
  | { type: 'sentence'; line: string; search?: SearchSentence }
  | { type: 'sale'; node: string; sale: string; what: SaleEvent['type'] }
  /** The reply is that of the virtual lab: on real servers none is seen. */
  | { type: 'command'; node: string; verb: string; reply?: string }
  /** The verb is that of the command that is held on its way; none when it goes on. */
  | { type: 'held'; node: string; verb?: string }
  | { type: 'process'; node: string; state: NodeState }
  /** The lock of the node is at this line of its file. */
  | { type: 'line'; node: string; line: number }
  /** What Redis holds from now on. `endsAt`: when the key of the lock is gone by itself. */
  | { type: 'redis'; lock?: string; endsAt?: number; stock: number }
);
export type NodeState = 'running' | 'killed' | 'stopped' | 'blocked';

export interface PlaySource {
  log: string[];
  events: SaleEvent[];
  heard: Heard[];
  atLines: Lab['lines'];
  /** The lines of its page that are told. */
  lines: string[];
  lock: string;
}

/** The records of a cell, in their order, from its first sentence or sale to its last. */
export async function recordsOf({ log, events, heard, atLines, lines, lock }: PlaySource): Promise<PlayRecord[]> {
  const told = log.flatMap((text) => fromLog(text, lines));
  const sales = salesOf(events, told);
  const redis = await statesOf(heard, lock);
  const begins = Math.min(...[...told.filter(({ type }) => type === 'sentence'), ...sales].map(({ at }) => at));
  const last = told.findLast((each) => each.type === 'sentence');
  const ended = Math.max(...sales.map(({ at }) => at), last?.at ?? 0);
  const isHeld = redis.findLast(({ at }) => at <= ended)?.lock !== undefined;
  const release = redis.find(({ at }) => isHeld && at > ended && at < ended + RELEASE_MS);
  const ends = release?.at ?? ended;
  const before = redis.findLast(({ at }) => at < begins);
  return [
    ...(before ? [{ ...before, at: begins }] : []),
    ...redis,
    ...told,
    ...sales,
    ...atLines.map((each) => ({ type: 'line' as const, ...each })),
  ]
    .filter(({ at }) => at >= begins && at <= ends)
    .toSorted((a, b) => a.at - b.at);
}

function fromLog(text: string, lines: string[]): PlayRecord[] {
  const at = Number(text.slice(0, 9));
  const said = text.slice(10);
  const [, node = '', rest = ''] = /^(node-\d) (.*)$/.exec(said) ?? [];
  if (said.startsWith('# ')) {
    const line = lineOf(said.slice(2), lines);
    return line === undefined ? [] : [{ type: 'sentence', at, line }];
  }
  const [, verb, reply] = /^(.*) → (.*)$/.exec(rest) ?? [];
  if (verb !== undefined && reply !== undefined) return [{ type: 'command', at, node, verb, reply }];
  const held = / is held on its way$/.exec(rest);
  if (held) return [{ type: 'held', at, node, verb: rest.slice(0, held.index) }];
  if (rest.endsWith(' is let go')) return [{ type: 'held', at, node }];
  const state = states.find(([pattern]) => pattern.test(rest))?.[1];
  if (state === undefined) return [];
  const [, ms] = /blocks its event loop for (\d+) ms/.exec(rest) ?? [];
  const record = { type: 'process' as const, at, node, state };
  return ms === undefined ? [record] : [record, { ...record, at: at + Number(ms), state: 'running' }];
}

/** The line of its page that a drill has said. */
export function lineOf(said: string, lines: string[]): string | undefined {
  const sentence = said.toLowerCase();
  return lines.find(
    (line) => sentence.startsWith(line.toLowerCase()) && /^[.:]?( |$)/.test(sentence.slice(line.length)),
  );
}

const states: [RegExp, NodeState][] = [
  [/^is killed$/, 'killed'],
  [/^is stopped$/, 'stopped'],
  [/^(goes on|is started again)$/, 'running'],
  [/^blocks its event loop/, 'blocked'],
];

/** What happened to the sales, by the letters that the sentences give them. */
export function salesOf(events: SaleEvent[], told: PlayRecord[]): PlayRecord[] {
  const named = nameSales(told, events);
  return events.map(({ at, node, saleId, type }) => {
    return { type: 'sale', at, node, sale: named.get(`${node} ${saleId}`) ?? saleId, what: type };
  });
}

/** The letters of the sales that the sentences speak of, by node and number. */
function nameSales(told: PlayRecord[], events: SaleEvent[]): Map<string, string> {
  const names = new Map<string, string>();
  const asked = events.filter(({ type }) => type === 'waiting');
  let sentBefore = 0;
  for (const record of told) {
    if (record.type !== 'sentence') continue;
    const [, letter, node] = /^([A-Z]) sells at (node-\d)/.exec(record.line) ?? [];
    const sale = asked.find(
      (each) => each.node === node && each.at >= sentBefore && !names.has(`${node} ${each.saleId}`),
    );
    if (letter !== undefined && sale) names.set(`${node} ${sale.saleId}`, letter);
    sentBefore = record.at;
  }
  return names;
}

/** What Redis held after each command that it has heard: another one hears them again, and is asked. */
async function statesOf(heard: Heard[], lock: string) {
  const server = await openServer(createSchedule());
  const [key = ''] = lockKeys(SKU, lock, 1);
  const ask = (...command: string[]): Reply => server.execute(OUTSIDE, command);
  const states = heard.map((each) => {
    server.replay([each]);
    server.setAhead(each.at);
    const [kind, endsIn, stock] = [ask('TYPE', key), Number(ask('PTTL', key)), Number(ask('GET', stockKey(SKU)) ?? 0)];
    const value = kind === 'hash' ? ask('HGETALL', key) : kind === 'string' ? ask('GET', key) : kind;
    return {
      type: 'redis' as const,
      at: each.at,
      stock,
      ...(kind !== 'none' && { lock: Array.isArray(value) ? value.join(': ') : String(value) }),
      ...(endsIn >= 0 && { endsAt: each.at + endsIn }),
    };
  });
  server.close();
  return states;
}
