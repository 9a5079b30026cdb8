// The nodes' commands as their proxies see them: the reply, what Redis held just after it, and the sale that sent it.

import type { Target, TargetNode } from '../../loadtest/harness/target.ts';
import type { Wire } from '../../loadtest/harness/wire.ts';
import { machineClock } from '../../loadtest/worlds/real/machine.ts';
import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import type { About, Message, Returned } from '../../simulation/events.ts';
import { contentOf, type RedisContent } from '../../simulation/redis-content.ts';
import { readableOf } from '../../simulation/scripts.ts';
import type { Command, Exchange } from '../../stack/proxy/link.ts';
import { isNo } from '../picture/trips.ts';

/** Times are milliseconds by the machine's clock. */
export interface Seen {
  message: Message;
  command: Command;
  cameAt: number;
  /** When the reply reached the proxy, and by when Redis had executed the command. Absent until then. */
  answer?: { sentAt: number; at: number; doneAt: number; returned: Returned };
  /** What Redis held just after it, and the time by Redis' clock. Absent if Redis was not asked. */
  after?: RedisContent & { redisMs: number };
}

/** Calls `onCome` with each command of this node that is about the stock or the lock; its result is filled in later. Returns a function to stop. */
export function seeCommands(
  { name: node, link }: TargetNode,
  { wire }: Pick<Target, 'wire'>,
  stage: string,
  onCome: (seen: Seen) => void,
): () => void {
  const keys = { stockKey: wire.stockKey, lockKey: wire.lockKey(stage) };
  const asks = contentAsks(keys);
  const seenBy = new WeakMap<Command, Seen>();
  /** The proxies use this process's clock. */
  const sinceStart = machineClock.now() - performance.now();
  const ends = [
    link?.watch((command) => {
      const about = aboutOf(command, wire, stage);
      if (about === undefined) return;
      const seen: Seen = { message: messageOf(node, command, about, wire), command, cameAt: machineClock.now() };
      seenBy.set(command, seen);
      onCome(seen);
    }),
    link?.askBehind?.((command) => {
      const seen = seenBy.get(command);
      if (seen === undefined) return undefined;
      const hear = ({ sentAt, at, reply }: Exchange, behind: Returned[]) => {
        const times = { sentAt: sentAt + sinceStart, at: at + sinceStart, doneAt: at + sinceStart };
        seen.answer = { ...times, returned: reply.returned ?? null };
        const read = (...asked: string[]) => behind[asks.findIndex((each) => each.join() === asked.join())];
        const time = read('TIME');
        if (!Array.isArray(time)) return;
        const redisMs = Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
        seen.after = { ...contentOf(read, keys, machineClock.now()), redisMs };
      };
      return { commands: asks, hear };
    }),
  ];
  return () => ends.forEach((end) => void end?.());
}

/** Everything that `contentOf` may read, and the time. */
const contentAsks = ({ stockKey, lockKey }: { stockKey: string; lockKey: string }) => [
  ...['TYPE', 'PTTL', 'GET', 'HGETALL'].map((name) => [name, lockKey]),
  ['GET', stockKey],
  ['TIME'],
];

/** Undefined for a command about neither. Commands in a transaction are executed by its EXEC. */
function aboutOf(command: Command, wire: Wire, stage: string): About | undefined {
  if (wire.isStockRead(command) || wire.isStockWrite(command)) return 'stock';
  if (wire.isOfLock(command, stage)) return 'lock';
  return command.name === 'EXEC' ? 'other' : undefined;
}

let ids = 0;

function messageOf(node: string, { name, script, args }: Command, about: About, { nodesTell }: Wire): Message {
  const known = readableOf([name, ...args]);
  ids += 1;
  const verb = nodesTell ? known.verb : `${script ?? name} ${about}`;
  return { node, id: ids, server: 0, ...known, verb, about };
}

/** The smallest distance between two commands. */
const TINY_MS = 1e-4;

/** In the order of execution in Redis: for overlapping commands, Redis' clock decides. */
export function inOrder(all: Seen[]): Seen[] {
  const ordered: Seen[] = [];
  for (const each of all.toSorted((one, other) => doneAt(one) - doneAt(other))) {
    const isAfter = (other: Seen) =>
      doneAt(other) <= (each.answer?.sentAt ?? 0) || (other.after?.redisMs ?? 0) <= (each.after?.redisMs ?? Infinity);
    ordered.splice(ordered.findLastIndex(isAfter) + 1, 0, each);
  }
  let latest = Number.POSITIVE_INFINITY;
  for (const { answer } of ordered.toReversed()) {
    if (answer === undefined) continue;
    latest = Math.min(latest - TINY_MS, answer.at);
    answer.doneAt = latest;
  }
  return ordered;
}

const doneAt = ({ answer }: Seen) => answer?.at ?? Number.POSITIVE_INFINITY;

/** The progress of a sale on a node. */
interface Open {
  sale: string;
  is: 'waiting' | 'inside' | 'has read' | 'has written' | 'left';
  /** When it last sent a request. */
  askedAt?: number;
}

const becomes: Partial<Record<SaleEvent['type'], Open['is']>> = {
  ...{ waiting: 'waiting', entered: 'inside', began: 'inside', read: 'has read' },
  ...{ conflict: 'has written', wrote: 'has written', left: 'left' },
};

interface NameParts {
  seen: Seen[];
  steps: SaleEvent[];
  /** When its process died. */
  deaths: number[];
  wire: Wire | undefined;
  /** The sale whose owner token is among these words. */
  saleIn(words: string[]): string | undefined;
}

/** Assigns each command of a node to a sale: by its owner token, else by the progress of the node's sales. */
export function nameSales({ seen, steps, deaths, wire, saleIn }: NameParts): void {
  let open: Open[] = [];
  /** The commands with which sales have acquired the lock. */
  const acquiring = new Set<string>();
  const moments: { at: number; step?: SaleEvent; seen?: Seen }[] = [
    ...steps.map((step) => ({ at: step.at, step })),
    ...seen.map((each) => ({ at: each.cameAt, seen: each })),
    ...deaths.map((at) => ({ at })),
  ];
  for (const { at, step, seen: each } of moments.toSorted((one, other) => one.at - other.at)) {
    if (step) {
      const own = open.find(({ sale }) => sale === step.saleId);
      const is = becomes[step.type];
      if (step.type === 'waiting' || step.type === 'failed') open = open.filter((other) => other !== own);
      if (step.type === 'waiting') open.push({ sale: step.saleId, is: 'waiting' });
      else if (own && is) {
        own.is = is;
        // Who left last gives up its lock next.
        if (is === 'left') open = [...open.filter((other) => other !== own), own];
      }
    } else if (each) {
      const { message, command } = each;
      const named = saleIn(command.args);
      const own = named === undefined ? chosen(each, askers(each)) : open.find(({ sale }) => sale === named);
      message.sale = named ?? own?.sale;
      if (own === undefined) continue;
      own.askedAt = at;
      if (own.is === 'waiting') acquiring.add(message.name);
    } else open = [];
  }

  /** The sales that may have sent it. */
  function askers({ message: { about, name }, command }: Seen): Open[] {
    if (about === 'other') return [];
    const first = (...phases: Open['is'][]) =>
      phases.map((phase) => open.filter(({ is }) => is === phase)).find(({ length }) => length > 0) ?? [];
    if (wire?.isStockRead(command)) return first('inside', 'waiting');
    if (about === 'stock') return first('has read', 'inside', 'waiting');
    const isNew = ({ is, askedAt }: Open) => is === 'waiting' && askedAt === undefined;
    if (wire?.isRelease(command) || !(acquiring.has(name) || open.some(isNew)))
      return first('left', 'inside', 'waiting');
    return first('waiting', 'inside', 'left');
  }

  /** Among several, the sale that continued after this reply; among refused sales, the one whose last try is oldest. */
  function chosen({ message: { about }, answer, command }: Seen, all: Open[]): Open | undefined {
    if (all.length < 2 || all[0]?.is === 'left') return all.at(-1);
    const fresh = all.find(({ askedAt }) => askedAt === undefined);
    if (about === 'lock' && fresh) return fresh;
    if (answer === undefined) return undefined;
    const { returned, at } = answer;
    if (about === 'lock' && isNo(returned))
      return all.toSorted((one, other) => (one.askedAt ?? 0) - (other.askedAt ?? 0))[0];
    const types = about === 'lock' ? ['entered'] : wire?.isStockRead(command) ? ['read'] : ['wrote', 'conflict'];
    const next = steps.find(
      (step) => step.at >= at && types.includes(step.type) && all.some(({ sale }) => sale === step.saleId),
    );
    return all.find(({ sale }) => sale === next?.saleId);
  }
}

/** The command that led to each step of a sale, if there is one. */
export function heardBy(seen: Seen[], steps: SaleEvent[]): Map<SaleEvent, Seen> {
  const heard = new Map<SaleEvent, Seen>();
  const bySale = new Map<string, Seen[]>();
  for (const each of seen) {
    const name = `${each.message.node} ${each.message.sale}`;
    bySale.set(name, [...(bySale.get(name) ?? []), each]);
  }
  for (const step of steps) {
    const isOfStock = ['read', 'wrote', 'conflict'].includes(step.type);
    if (!isOfStock && step.type !== 'entered' && step.type !== 'began') continue;
    const own = bySale.get(`${step.node} ${step.saleId}`) ?? [];
    const last = own.findLast(({ message, answer }) => {
      return answer !== undefined && answer.at <= step.at && (!isOfStock || message.about === 'stock');
    });
    if (last) heard.set(step, last);
  }
  return heard;
}
