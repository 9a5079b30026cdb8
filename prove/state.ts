// A state of the search: each process, the contents of the servers, the time, and the faults that may still happen.

import type { Reply } from '../simulation/valkey.ts';
import type { Command, Line, Pending } from '../simulation/world/commands.ts';
import type { Input } from '../simulation/world.ts';
import { type History, type Told, textOfReply } from './process.ts';
import type { Budget } from './scopes.ts';
import type { Server, ServerState } from './server.ts';
import type { Clause } from './wording.ts';

/** The units in stock at the beginning. */
export const STOCK = 10;

/**
 * `comes`: it has not asked yet. `is late`: a command of it is held; its timers continue. `crashed`: it was killed, or
 * its own code has ended it.
 */
export type Status = 'comes' | 'runs' | 'is paused' | 'is late' | 'crashed';

/** A message that was sent to a process and has not reached it yet. */
export interface Unheard {
  channel: string;
  message: string;
}

/** A reply on the way: the server has executed the command. */
export interface Unread {
  /** The number of the command. */
  id: number;
  server: number;
  line: Line;
  reply: Reply;
  /** When it arrives at the latest, in milliseconds. */
  until: number;
}

interface ActorFields {
  history: History;
  status: Status;
  /** When its pause or its delay ends at the latest, in milliseconds. */
  until: number;
  /** What came to the connection that listens, oldest first. */
  inbox: readonly (Unheard | Unread)[];
  /** What came to the others, oldest first; no reply that is one step with its command. */
  replies: readonly Unread[];
  /** How many writes of others there were when its command was held up. */
  writesBefore: number;
  /** Until when its lease runs on each server, or in each bucket, from the command that began it, in milliseconds of the search's clock. */
  leaseEnds: readonly number[];
}

/** A process during the search. It is immutable; equal ones are one object. */
export interface Actor extends Readonly<ActorFields> {
  id: number;
  /** The oldest command on each of its connections. */
  heads: Pending[];
  /** One of its sales is inside. */
  isInside: boolean;
  /** The buckets that its sales are inside of; 0 for a stock in one key. */
  insideOf: readonly number[];
  /** Since when it has asked for the lock in vain, in milliseconds; `undefined` when it does not wait. */
  waitsSince: number | undefined;
  /** When its next timer may fire, in milliseconds; `Infinity` when it has none. */
  nextTimer: number;
  /** What is left of one that does nothing more: the same number, below 0, for those of which every demand says the same. */
  end: number | undefined;
}

export interface State {
  at: number;
  /** The server of the stock and the lock; with masters, the server of the stock and then each of them. */
  servers: readonly ServerState[];
  /** How far the clock of each server is ahead, in milliseconds. */
  ahead: readonly number[];
  /** Servers that are paused and do not reply. */
  frozen: readonly number[];
  actors: readonly Actor[];
  /** What may still go wrong. */
  budget: Budget;
  /** When a holder was killed, in milliseconds; `Infinity` when none was, or when somebody has entered since. */
  crashedAt: number;
  /** Since when the lock is free, in milliseconds; `Infinity` when it is not. */
  freeSince: number;
  /** The contents of a replica that has not received the last command; 0 unless there may be a failover. */
  replica: ServerState;
  /** For each process: all buckets were empty at some moment since it came. Not looked at where the stock is in one key. */
  sawEmpty: readonly boolean[];
}

/** Something that happened. */
export interface Step {
  /** In milliseconds from the beginning. */
  at: number;
  /** `A`, `B`, …; `the clock`, `the server`. */
  process: string;
  kind: StepKind;
  /** What happened. */
  what: Clause;
  reply?: string;
  /** The command that reached a server. */
  sent?: Sent;
  /** What a process was given, where it was given something. */
  input?: Input;
  /** What the process did because of it. */
  told: Told[];
}

/** A command that reached a server. */
export interface Sent {
  /** The number of the server. */
  server: number;
  line: Line;
  command: Command;
  /** What the server holds is not what it held before. */
  hasChanged: boolean;
}

export type StepKind =
  | 'begins'
  | 'command'
  | 'reply'
  | 'message'
  | 'timer'
  | 'pause'
  | 'wake'
  | 'hold up'
  | 'let go'
  | 'hold reply'
  | 'crash'
  | 'hang up'
  | 'failover'
  | 'freeze'
  | 'restart empty'
  | 'clock jump'
  | 'clock';

/** A, B, C. */
export const nameOf = (index: number) => String.fromCharCode('A'.charCodeAt(0) + index);

export function createActors() {
  const known = new Map<string, Actor>();
  /** The numbers of ends, by what is left. */
  const ends = new Map<string, number>();

  /** The one actor that is so. */
  function actorOf(fields: ActorFields): Actor {
    const { history, status, until, inbox, replies, writesBefore, leaseEnds } = fields;
    let name = `${history.id}|${status}|${until}|${writesBefore}|${leaseEnds.length === 1 ? leaseEnds[0] : leaseEnds}`;
    for (const one of inbox) name += `|${'reply' in one ? nameOfUnread(one) : `${one.channel} ${one.message}`}`;
    for (const one of replies) name += `||${nameOfUnread(one)}`;
    const found = known.get(name);
    if (found) return found;
    const made = {
      ...{ history, status, until, inbox, replies, writesBefore, leaseEnds },
      ...derivedFrom(fields, numberOfEnd),
      id: known.size,
    };
    known.set(name, made);
    return made;
  }

  function numberOfEnd(left: string): number {
    const number = ends.get(left) ?? -1 - ends.size;
    ends.set(left, number);
    return number;
  }

  return { actorOf };
}

const nameOfUnread = ({ id, until, reply }: Unread) => `${id} ${until} ${textOfReply(reply)}`;

function derivedFrom(fields: ActorFields, numberOfEnd: (left: string) => number) {
  const { status, inbox, replies } = fields;
  const { seen } = fields.history;
  const isRunning = status !== 'crashed' && status !== 'comes';
  const isAway = (id: number) => [...inbox, ...replies].some((one) => 'reply' in one && one.id === id);
  const lines = new Set<string>();
  const heads = seen.pending.filter(({ id, line, server }) => {
    const isFirst = !lines.has(`${line} ${server}`) && !isAway(id);
    if (!isAway(id)) lines.add(`${line} ${server}`);
    return isFirst;
  });
  const isIdle = seen.isOver && [...inbox, ...replies, ...seen.pending, ...seen.timers].length === 0;
  return {
    heads,
    isInside: status !== 'crashed' && seen.insideOf.length > 0,
    insideOf: status === 'crashed' ? [] : seen.insideOf,
    waitsSince: isRunning ? seen.waitsSince : undefined,
    nextTimer: Math.min(Number.POSITIVE_INFINITY, ...seen.timers.map(({ due }) => due)),
    end: status === 'crashed' || isIdle ? numberOfEnd(endOf(fields)) : undefined,
  };
}

/** What demands ask of a process at its end: what it told, and when only where its token was refused. */
function endOf({ history: { seen }, status, leaseEnds }: ActorFields): string {
  const told = seen.told.filter(({ step }) => step !== 'waits again').map(({ at: _, ...rest }) => rest);
  const refused = seen.told.some(({ isStale }) => isStale) && [seen.told, leaseEnds];
  return JSON.stringify([status, seen.isOver, seen.death, seen.timers.length, told, refused]);
}

/** The numbers of budgets, and of lists by their texts. */
const numbers = { ofBudgets: new WeakMap<Budget, number>(), ofTexts: new Map<string, number>() };

/** The same for the same text. */
function numberOfText(text: string): number {
  const found = numbers.ofTexts.get(text) ?? numbers.ofTexts.size;
  if (found === numbers.ofTexts.size) numbers.ofTexts.set(text, found);
  return found;
}

/** The same for budgets in which the same is left. */
function numberOfBudget(budget: Budget): number {
  const found = numbers.ofBudgets.get(budget);
  if (found !== undefined) return found;
  const number = numberOfText(Object.values(budget).join(' '));
  numbers.ofBudgets.set(budget, number);
  return number;
}

/** The number of a list that has nothing in it, as most have not. */
const NOTHING = -1;
const numberOfList = (list: readonly unknown[]) => (list.length === 0 ? NOTHING : numberOfText(list.join(' ')));
/** How far the clock of a server is ahead matters where there are several. */
const numberOfAhead = (ahead: readonly number[]) => (ahead.length === 1 ? NOTHING : numberOfText(ahead.join(' ')));

/** How many numbers a state of this search is known by. */
export const keyLength = ({ servers, actors }: State) => 8 + servers.length + actors.length;

/** Writes the state as numbers: the same for states in which the same can happen next, and the same is violated. */
export function writeKey(state: State, server: Server, key: Float64Array | number[]) {
  const { servers, actors } = state;
  key[0] = state.at;
  key[1] = numberOfBudget(state.budget);
  key[2] = numberOfAhead(state.ahead);
  key[3] = numberOfList(state.frozen);
  key[4] = state.crashedAt;
  key[5] = state.freeSince;
  key[6] = state.replica;
  key[7] = numberOfList(state.sawEmpty);
  let at = 8;
  for (const each of servers) key[at++] = each;
  for (let index = 0; index < actors.length; index += 1) {
    const { id, end } = actors[index] as Actor;
    const isLeft = end !== undefined && !servers.some((each) => server.listens(each, index));
    key[at++] = isLeft ? end : id;
  }
}

/** The state as a text: equal for equal numbers. */
export function keyOf(state: State, server: Server): string {
  const key: number[] = [];
  writeKey(state, server, key);
  return key.join();
}

/** The list with one item replaced. */
export function replaced<Item>(list: readonly Item[], index: number, item: Item): Item[] {
  const copy = [...list];
  copy[index] = item;
  return copy;
}
