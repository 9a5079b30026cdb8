// What happens on real servers, as the records that the page draws: what the nodes push, what the harness sees, and what is said.

import type { Fault, LeaseSample } from '../../loadtest/evidence/timeline.ts';
import { sharedClock } from '../../loadtest/harness/clock.ts';
import type { Audience, CellRecord, Drill, Observed } from '../../loadtest/harness/drill.ts';
import { followNode } from '../../loadtest/harness/event-stream.ts';
import { watchLease } from '../../loadtest/harness/lease-watch.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import { narrated, type StepSentence } from '../../loadtest/narration/steps.ts';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { lockKey } from '../../services/inventory/store.ts';
import { verbOf } from '../../virtual/scripts.ts';
import { lineOf, type NodeState, type PlayRecord, salesOf } from '../page/records.ts';

const SKU = '001';
/** The stock is looked at now and then: so soon after a write a look may have come before it, in milliseconds. */
const LOOK_MS = 50;
/** What Redis says of an end is exact to a few milliseconds: an end that has moved by more was set anew. */
const SAME_END_MS = 50;

export interface RecordingOptions {
  stage: string;
  /** What is played: of a load nothing but its sales is seen by the harness. None in free play, where everything that is said is told. */
  drill?: Pick<Drill, 'kind' | 'lines'> | undefined;
  /** Called when there are other records. */
  onChange(): void;
}

export type Recording = ReturnType<typeof startRecording>;

/** Records what is played for this audience, until it is closed. */
export function startRecording({ stage, drill, onChange }: RecordingOptions) {
  const closing = new AbortController();
  /** The events of each process of a node. */
  const processes = new Map<string, SaleEvent[]>();
  let told: PlayRecord[] = [];
  /** What the nodes have asked of the lock. */
  const asked: PlayRecord[] = [];
  let seen: Observed | undefined;
  let ownWatch: ReturnType<typeof watchLease> | undefined;

  function follow(target: Target) {
    const key = lockKey(SKU, stage);
    if (drill?.kind === 'load' && target.stack) ownWatch = watchLease(target.stack.redis.url, key);
    for (const { name, labUrl, link } of target.nodes) {
      const unwatch = link?.watch(({ name: command, script, args }) => {
        if (!args.some((arg) => arg.includes(key))) return;
        asked.push({ type: 'command', at: sharedClock(), node: name, verb: script ?? verbOf([command, ...args]) });
      });
      closing.signal.addEventListener('abort', () => unwatch?.());
      let own: SaleEvent[] = [];
      followNode(labUrl, {
        signal: closing.signal,
        onPush({ state, events, cleared }, isFirst) {
          // The way back of a drill is no part of it.
          if (seen?.endedAt() !== undefined) return;
          if (isFirst || cleared) {
            own = [];
            processes.set(`${name} ${state?.instance}`, own);
          }
          own.push(...events);
          if (events.length > 0) onChange();
        },
      });
    }
    return target;
  }

  const audience = {
    watch: follow,
    observe(observed) {
      seen = observed;
      told = [];
    },
    async narrate(sentence: StepSentence) {
      const said = narrated(sentence);
      const line = drill === undefined ? said.replace(/\.$/, '') : lineOf(said, drill.lines ?? []);
      if (line === undefined) return;
      told.push({ type: 'sentence', at: sharedClock(), line });
      onChange();
    },
  } satisfies Audience;

  return {
    audience,
    /** What was seen so far or, when it is over, in all: in milliseconds since the beginning. */
    records(over?: Pick<CellRecord, 'figures'> & Partial<Pick<CellRecord, 'events'>>): PlayRecord[] {
      const { startedAt = 0, stock, faults = [] } = seen ?? {};
      const events = (over?.events ?? [...processes.values()].flat())
        .filter(({ at }) => at >= startedAt)
        .toSorted((a, b) => a.at - b.at);
      const first = stock ?? events.find((event) => event.type === 'read')?.stock;
      const figures: Record<string, unknown> = over?.figures ?? {};
      // Of two writes at two nodes, the later one by the clock need not be the one that Redis took last.
      const lastAt = seen?.endedAt() ?? events.at(-1)?.at ?? startedAt;
      const last = { at: lastAt, stock: seen?.finalStock() ?? figures['finalStock'] };
      const from = seen ? startedAt : (events[0]?.at ?? 0);
      const redis =
        first === undefined ? [] : redisOf(from, first, events, seen?.samples() ?? ownWatch?.samples ?? [], last);
      const until = seen ? (seen.endedAt() ?? Number.POSITIVE_INFINITY) : last.at;
      return [...redis, ...told, ...asked, ...faults.flatMap(ofFault), ...salesOf(events, told)]
        .filter(({ at }) => at >= startedAt && at <= until)
        .map((record) => sinceThen(record, from))
        .toSorted((a, b) => a.at - b.at);
    },
    async close() {
      closing.abort();
      await ownWatch?.close();
    },
  };
}

function sinceThen(record: PlayRecord, from: number): PlayRecord {
  const at = Math.max(0, record.at - from);
  return record.type === 'redis' && record.endsAt !== undefined
    ? { ...record, at, endsAt: record.endsAt - from }
    : { ...record, at };
}

type OfRedis = Extract<PlayRecord, { type: 'redis' }>;

/** What Redis held, from the stock at the beginning on: as the sales have written it, and as it was seen. */
function redisOf(
  from: number,
  stock: number,
  events: SaleEvent[],
  samples: readonly LeaseSample[],
  last: object,
): OfRedis[] {
  // Where the stock lies in buckets, nobody says how much there is in all until it is over.
  const isInBuckets = events.some(({ bucket }) => bucket !== undefined);
  const wrote = isInBuckets ? [] : events.filter(({ type }) => type === 'wrote');
  const seen = [...wrote, ...samples, last as Partial<SaleEvent> & { at: number }].toSorted((a, b) => a.at - b.at);
  const records: OfRedis[] = [{ type: 'redis', at: from, stock }];
  let wroteAt = Number.NEGATIVE_INFINITY;
  for (const each of seen) {
    const before = records.at(-1) as OfRedis;
    const isLook = 'ttlMs' in each;
    if ('type' in each) wroteAt = each.at;
    const isOld = isLook && (isInBuckets || each.at - wroteAt < LOOK_MS);
    const now: OfRedis = {
      ...(isLook ? lockOf(each) : before),
      type: 'redis',
      at: each.at,
      stock: isOld ? before.stock : (each.stock ?? before.stock),
    };
    const isSameEnd = Math.abs((now.endsAt ?? 0) - (before.endsAt ?? 0)) < SAME_END_MS;
    if (now.stock !== before.stock || now.lock !== before.lock || !isSameEnd) records.push(now);
  }
  return records;
}

function lockOf({ at, owner, ttlMs }: LeaseSample): Pick<OfRedis, 'lock' | 'endsAt'> {
  if (owner === undefined) return {};
  return { lock: owner, ...(Number.isFinite(ttlMs) && { endsAt: at + ttlMs }) };
}

const states: Record<string, NodeState> = { SIGKILL: 'killed', SIGSTOP: 'stopped', 'event loop blocked': 'blocked' };

/** What was done to a node, and its end. */
function ofFault({ label, node, from, until }: Fault): PlayRecord[] {
  if (node === undefined) return [];
  const state = states[label];
  const [, verb] = /^(write|release) held$/.exec(label) ?? [];
  const begins: PlayRecord[] = [
    ...(state ? [{ type: 'process' as const, at: from, node, state }] : []),
    ...(verb ? [{ type: 'held' as const, at: from, node, verb }] : []),
  ];
  if (until === undefined) return begins;
  return begins.flatMap((begin) => [
    begin,
    begin.type === 'process' ? { ...begin, at: until, state: 'running' } : { type: 'held', at: until, node },
  ]);
}
