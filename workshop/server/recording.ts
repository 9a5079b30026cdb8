// What happens on real servers, as events for the page: the nodes' events and commands, what Redis holds, and the narration.

import { isLetter, type PlayEvent, withLeases, withLetters } from '../../loadtest/evidence/playing.ts';
import type { Fault } from '../../loadtest/evidence/timeline.ts';
import type { Audience, CellRecord, Drill, Observed } from '../../loadtest/harness/drill.ts';
import { watchLease } from '../../loadtest/harness/lease-watch.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import type { Wire } from '../../loadtest/harness/wire.ts';
import type { StepSentence } from '../../loadtest/narration/steps.ts';
import { machineClock } from '../../loadtest/worlds/real/machine.ts';
import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { heardBy, inOrder, nameSales, type Seen, seeCommands } from './commands-seen.ts';
import { heldBy } from './redis-held.ts';

export interface RecordingOptions {
  stage: string;
  /** What is played: of a load, only its sales are recorded. Absent in free play. */
  drill?: Pick<Drill, 'kind'> | undefined;
  /** Called when the events have changed. */
  onChange(): void;
}

export type Recording = ReturnType<typeof startRecording>;

/** Records what is played for this audience, until it is closed. */
export function startRecording({ stage, drill, onChange }: RecordingOptions) {
  const closing = new AbortController();
  /** The events of each node process. */
  const processes = new Map<string, SaleEvent[]>();
  /** The node of each process. */
  const instances = new Map<string, string>();
  /** The sale of each word in a lock, where the nodes do not report it. A word of several sales belongs to none. */
  const tokens = new Map<string, string | undefined>();
  let told: PlayEvent[] = [];
  /** The nodes' commands about the lock and the stock. */
  const asked: Seen[] = [];
  let wire: Wire | undefined;
  let seen: Observed | undefined;
  let ownWatch: ReturnType<typeof watchLease> | undefined;

  function follow(target: Target) {
    const { stack } = target;
    wire = target.wire;
    if (drill?.kind === 'load' && stack) ownWatch = watchLease(target, stack.redis.url, wire.lockKey(stage));
    for (const node of target.nodes) {
      const { name } = node;
      let own: SaleEvent[] = [];
      let instance = '';
      /** The sale that started with the latest lock command. */
      let begun = '';
      const unwatch = seeCommands(node, target, stage, (came) => {
        if (!target.wire.nodesTell && came.message.about === 'lock') nameWords(came.command.args);
        asked.push(came);
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
        unwatch();
        followed.close();
      });

      /** A sale, and its words, start with its first command. */
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

  /** The sale of this node whose owner token a command contains. Undefined if there is none. */
  function saleIn(node: string, args: string[]): string | undefined {
    const named = args.map((arg) => (tokens.get(arg) ?? arg).split(':'));
    return named.findLast(([instance = '', sale]) => sale !== undefined && instances.get(instance) === node)?.[1];
  }

  const audience = {
    watch: follow,
    observe(observed) {
      seen = observed;
      told = [];
      asked.length = 0;
    },
    async narrate(sentence: StepSentence, _atMs?: number, _isStep?: boolean, line?: string) {
      told.push({ kind: 'sentence', at: machineClock.now(), sentence, line });
      onChange();
    },
  } satisfies Audience;

  return {
    audience,
    /** The events so far or, once it is over, all of them: in milliseconds since the start. */
    events(over?: Pick<CellRecord, 'figures'> & Partial<Pick<CellRecord, 'events'>>): PlayEvent[] {
      const { startedAt = 0, stock, faults = [] } = seen ?? {};
      const steps = (over?.events ?? [...processes.values()].flat())
        .filter(({ at }) => at >= startedAt)
        .toSorted((a, b) => a.at - b.at);
      const deaths = faults.filter(({ what }) => what.form === 'killed');
      for (const node of new Set(instances.values())) {
        const isIts = (other: { node?: string }) => other.node === node;
        const own = asked.filter(({ message }) => isIts(message));
        const died = deaths.filter(isIts).map(({ from }) => from);
        nameSales({
          seen: own,
          steps: steps.filter(isIts),
          deaths: died,
          wire,
          saleIn: (words) => saleIn(node, words),
        });
      }
      const done = inOrder(asked);
      const figures: Record<string, unknown> = over?.figures ?? {};
      // Of two writes at two nodes, the later one by the clock need not be the one that Redis took last.
      const lastAt = seen?.endedAt() ?? steps.at(-1)?.at ?? startedAt;
      const last = { at: lastAt, stock: seen?.finalStock() ?? (figures['finalStock'] as number | undefined) };
      const from = seen ? startedAt : (steps[0]?.at ?? 0);
      const samples = seen?.samples() ?? ownWatch?.samples ?? [];
      const first = stock ?? steps.find((event) => event.type === 'read')?.stock;
      const redis = first === undefined ? [] : heldBy({ from, stock: first, steps, samples, done, faults, last });
      const until = seen ? (seen.endedAt() ?? Number.POSITIVE_INFINITY) : last.at;
      const all = [
        ...redis,
        ...told,
        ...ofCommands(done, steps),
        ...faults.flatMap((fault) => ofFault(fault, done, wire)),
      ]
        .filter(({ at }) => at >= startedAt && at <= until)
        .map((event) => sinceThen(event, from))
        .toSorted((a, b) => a.at - b.at);
      const named = withLetters(all, instances, tokens);
      return withLeases(drill ? named : withoutCrowd(named));
    },
    async close() {
      closing.abort();
      await ownWatch?.close();
    },
  };
}

/** Of a rush in free play, whose buyers have no letters, only the writes are shown, through the stock. */
function withoutCrowd(events: PlayEvent[]): PlayEvent[] {
  const isOfCrowd = (event: PlayEvent) => 'sale' in event && event.sale !== undefined && !isLetter(event.sale);
  return events.filter((event) => !isOfCrowd(event) || (event.kind === 'sale' && event.step === 'wrote'));
}

function sinceThen(event: PlayEvent, from: number): PlayEvent {
  const at = Math.max(0, event.at - from);
  if (event.kind !== 'redis' || event.lock?.endsAt === undefined) return { ...event, at };
  return { ...event, at, lock: { ...event.lock, endsAt: event.lock.endsAt - from } };
}

/** The commands and the steps: a step caused by a reply happens when the reply is received. */
function ofCommands(done: Seen[], steps: SaleEvent[]): PlayEvent[] {
  const heard = heardBy(done, steps);
  const heardAt = new Map<Seen, number>();
  const sales = steps.map((given): PlayEvent => {
    const { type, saleId, ...step } = given;
    const by = heard.get(given);
    const at = (by && heardAt.get(by)) ?? given.at;
    if (by) heardAt.set(by, at);
    return { kind: 'sale', sale: saleId, ...step, step: type, at };
  });
  const commands = done.flatMap((seen): PlayEvent[] => {
    const { message, cameAt, answer } = seen;
    const sent: PlayEvent = { kind: 'command', at: cameAt, ...message };
    if (answer === undefined) return [sent];
    return [
      sent,
      { kind: 'done', at: answer.doneAt, ...message, returned: answer.returned },
      { kind: 'reply', at: heardAt.get(seen) ?? answer.at, ...message },
    ];
  });
  return [...commands, ...sales];
}

/** The state of a node after a deed. */
const states = ['killed', 'stopped', 'blocked'] as const;

/** A deed and its end; for a deed on a node or a message, its effect. */
function ofFault({ what, node, saleId: sale, from, until }: Fault, done: Seen[], wire: Wire | undefined): PlayEvent[] {
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
    const isIt = what.values.command === 'write' ? wire?.isStockWrite : wire?.isRelease;
    const held = done.findLast(({ message, command, cameAt, answer }) => {
      return message.node === node && cameAt <= from && (answer?.at ?? from) >= from && isIt?.(command);
    });
    if (held === undefined) return all;
    all.push({ kind: 'held', at: from, ...held.message });
    for (const at of over) all.push({ kind: 'let go', at, ...held.message });
  }
  return all;
}
