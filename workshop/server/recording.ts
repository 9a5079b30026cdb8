// What happens on real servers, as the events that the page draws: what the nodes push, what the harness sees, and what is said.

import { type PlayEvent, withLeases, withLetters } from '../../loadtest/evidence/playing.ts';
import type { Fault, LeaseSample } from '../../loadtest/evidence/timeline.ts';
import type { Audience, CellRecord, Drill, Observed } from '../../loadtest/harness/drill.ts';
import { watchLease } from '../../loadtest/harness/lease-watch.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import type { StepSentence } from '../../loadtest/narration/steps.ts';
import { machineClock } from '../../loadtest/worlds/real/machine.ts';
import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { verbOf } from '../../simulation/scripts.ts';

/** The stock is looked at now and then: so soon after a write a look may have come before it, in milliseconds. */
const LOOK_MS = 50;
/** What Redis says of an end is exact to a few milliseconds: an end that has moved by more was set anew. */
const SAME_END_MS = 50;

export interface RecordingOptions {
  stage: string;
  /** What is played: of a load nothing but its sales is seen by the harness. None in free play. */
  drill?: Pick<Drill, 'kind'> | undefined;
  /** Called when there are other events. */
  onChange(): void;
}

export type Recording = ReturnType<typeof startRecording>;

/** Records what is played for this audience, until it is closed. */
export function startRecording({ stage, drill, onChange }: RecordingOptions) {
  const closing = new AbortController();
  /** The events of each process of a node. */
  const processes = new Map<string, SaleEvent[]>();
  /** Which node each process is. */
  const instances = new Map<string, string>();
  /** Whose each word of a lock is, as a token of ours names a sale, where nodes do not tell. Of several sales it is nobody's. */
  const tokens = new Map<string, string | undefined>();
  let told: PlayEvent[] = [];
  /** What the nodes have asked of the lock. */
  const asked: PlayEvent[] = [];
  let seen: Observed | undefined;
  let ownWatch: ReturnType<typeof watchLease> | undefined;

  function follow(target: Target) {
    const { wire, stack } = target;
    if (drill?.kind === 'load' && stack) ownWatch = watchLease(target, stack.redis.url, wire.lockKey(stage));
    for (const node of target.nodes) {
      const { name, link } = node;
      let own: SaleEvent[] = [];
      let instance = '';
      /** The sale that has begun with a command of the lock at last. */
      let begun = '';
      const unwatch = link?.watch((came) => {
        if (!wire.isOfLock(came, stage)) return;
        const { name: command, script, args } = came;
        if (!wire.nodesTell) nameWords(args);
        const verb = script ?? (wire.nodesTell ? verbOf([command, ...args]) : `${command} lock`);
        const message = {
          node: name,
          id: asked.length,
          server: 0,
          name: script ?? command,
          verb,
          about: 'lock' as const,
        };
        asked.push({ kind: 'command', at: machineClock.now(), ...message, sale: saleIn(name, args) });
      });
      const followed = node.follow(({ state, events, cleared }, isFirst) => {
        // The way back of a drill is no part of it.
        if (seen?.endedAt() !== undefined) return;
        if (isFirst || cleared) {
          own = [];
          processes.set(`${name} ${state?.instance}`, own);
        }
        if (state) instances.set(state.instance, name);
        instance = state?.instance ?? instance;
        own.push(...events);
        if (events.length > 0) onChange();
      });
      closing.signal.addEventListener('abort', () => {
        unwatch?.();
        followed.close();
      });

      /** A sale begins with its first command, and so do its words. */
      function nameWords(words: string[]) {
        const { saleId = '' } = own.at(-1) ?? {};
        const isFirst = saleId !== begun;
        begun = saleId;
        for (const word of words) {
          if (!tokens.has(word)) tokens.set(word, `${instance}:${saleId}`);
          else if (isFirst && tokens.get(word) !== `${instance}:${saleId}`) tokens.set(word, undefined);
        }
      }
    }
    return target;
  }

  /** The sale of this node whose owner token a command brings. Undefined where there is none. */
  function saleIn(node: string, args: string[]): string | undefined {
    const named = args.map((arg) => (tokens.get(arg) ?? arg).split(':'));
    return named.findLast(([instance = '', sale]) => sale !== undefined && instances.get(instance) === node)?.[1];
  }

  const audience = {
    watch: follow,
    observe(observed) {
      seen = observed;
      told = [];
    },
    async narrate(sentence: StepSentence, _atMs?: number, _isStep?: boolean, line?: string) {
      told.push({ kind: 'sentence', at: machineClock.now(), sentence, line });
      onChange();
    },
  } satisfies Audience;

  return {
    audience,
    /** What was seen so far or, when it is over, in all: in milliseconds since the beginning. */
    events(over?: Pick<CellRecord, 'figures'> & Partial<Pick<CellRecord, 'events'>>): PlayEvent[] {
      const { startedAt = 0, stock, faults = [] } = seen ?? {};
      const steps = (over?.events ?? [...processes.values()].flat())
        .filter(({ at }) => at >= startedAt)
        .toSorted((a, b) => a.at - b.at);
      const first = stock ?? steps.find((event) => event.type === 'read')?.stock;
      const figures: Record<string, unknown> = over?.figures ?? {};
      // Of two writes at two nodes, the later one by the clock need not be the one that Redis took last.
      const lastAt = seen?.endedAt() ?? steps.at(-1)?.at ?? startedAt;
      const last = { at: lastAt, stock: seen?.finalStock() ?? figures['finalStock'] };
      const from = seen ? startedAt : (steps[0]?.at ?? 0);
      const redis =
        first === undefined ? [] : redisOf(from, first, steps, seen?.samples() ?? ownWatch?.samples ?? [], last);
      const until = seen ? (seen.endedAt() ?? Number.POSITIVE_INFINITY) : last.at;
      const all = [...redis, ...told, ...asked, ...faults.flatMap(ofFault), ...steps.map(ofSale)]
        .filter(({ at }) => at >= startedAt && at <= until)
        .map((event) => sinceThen(event, from))
        .toSorted((a, b) => a.at - b.at);
      return withLeases(withLetters(all, instances, tokens));
    },
    async close() {
      closing.abort();
      await ownWatch?.close();
    },
  };
}

function sinceThen(event: PlayEvent, from: number): PlayEvent {
  const at = Math.max(0, event.at - from);
  if (event.kind !== 'redis' || event.lock?.endsAt === undefined) return { ...event, at };
  return { ...event, at, lock: { ...event.lock, endsAt: event.lock.endsAt - from } };
}

const ofSale = ({ type, saleId, ...event }: SaleEvent): PlayEvent => ({
  kind: 'sale',
  step: type,
  sale: saleId,
  ...event,
});

type OfRedis = Extract<PlayEvent, { kind: 'redis' }>;

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
  const all: OfRedis[] = [{ kind: 'redis', at: from, stock }];
  let wroteAt = Number.NEGATIVE_INFINITY;
  for (const each of seen) {
    const before = all.at(-1) as OfRedis;
    const isLook = 'ttlMs' in each;
    if ('type' in each) wroteAt = each.at;
    const isOld = isLook && (isInBuckets || each.at - wroteAt < LOOK_MS);
    const lock = isLook ? lockOf(each) : before.lock;
    const now: OfRedis = {
      kind: 'redis',
      at: each.at,
      stock: isOld ? before.stock : (each.stock ?? before.stock),
      ...(lock && { lock }),
    };
    const isSameEnd = Math.abs((lock?.endsAt ?? 0) - (before.lock?.endsAt ?? 0)) < SAME_END_MS;
    if (now.stock !== before.stock || lock?.value !== before.lock?.value || !isSameEnd) all.push(now);
  }
  return all;
}

function lockOf({ at, owner, ttlMs }: LeaseSample): OfRedis['lock'] {
  if (owner === undefined) return undefined;
  return { value: owner, ...(Number.isFinite(ttlMs) && { endsAt: at + ttlMs }) };
}

/** What a deed makes of a node. */
const states = ['killed', 'stopped', 'blocked'] as const;

/** What was done, and its end; of what was done to a node or to a message, what became of that. */
function ofFault({ what, node, saleId: sale, from, until }: Fault): PlayEvent[] {
  const fault = { kind: 'fault' as const, what, node, sale };
  const over = until === undefined ? [] : [until];
  const all: PlayEvent[] = [
    { ...fault, at: from, is: 'begun' },
    ...over.map((at): PlayEvent => ({ ...fault, at, is: 'over' })),
  ];
  if (node === undefined) return all;
  const is = states.find((state) => state === what.form);
  if (is !== undefined) {
    all.push({ kind: 'node', at: from, node, is });
    for (const at of over) all.push({ kind: 'node', at, node, is: is === 'killed' ? 'started again' : 'resumed' });
  }
  if (what.form === 'held') {
    const { command } = what.values;
    const about = command === 'write' ? 'stock' : 'lock';
    const message = { node, sale, id: 0, server: 0, name: command, verb: command, about } as const;
    all.push({ kind: 'held', at: from, ...message });
    for (const at of over) all.push({ kind: 'let go', at, ...message });
  }
  return all;
}
