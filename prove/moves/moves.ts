// What can happen next in a state of the search, one move for each.

import type { Reply } from '../../simulation/valkey.ts';
import type { Input, Pending } from '../../simulation/world.ts';
import { endOf, type LockKeys, namesFor } from '../lock-keys.ts';
import type { History, ProcessOptions } from '../process.ts';
import { createHistories } from '../process.ts';
import { inBuckets, LEASE_MS, LOCK_KEY, STOCK_KEY } from '../sale.ts';
import { type Budget, isWrite, type Scope, stockCommand } from '../scopes.ts';
import type { Executed, Server, ServerState } from '../server.ts';
import {
  type Actor,
  createActors,
  nameOf,
  replaced,
  type Sent,
  STOCK,
  type State,
  type Step,
  type StepKind,
  type Unread,
} from '../state.ts';
import { type Clause, happens, type Happening as Said } from '../wording.ts';
import { asRead, nameOfReply } from '../words.ts';

export interface Move {
  state: State;
  /** The process whose command has changed the lock, and in which server. */
  touches?: Touch;
  step(): Step;
}

export interface Touch {
  process: number;
  /** The server whose lock it is, or the bucket. */
  place: number;
}

export interface MovesOptions {
  scope: Scope;
  processes: number;
  sales: number;
  /** How many masters vote; 0 for a lock that asks one server. */
  masters: number;
  /** The stock lies in several buckets, each with a lock of its own. */
  isInBuckets?: boolean;
  /** Which keys are the lock's. */
  lock: LockKeys;
  /** No event is later than this, in milliseconds. */
  horizonMs: number;
}

/** What `Math.random()` may return: the search tries each. */
const CHANCES = [0.1, 0.9];
/** How long a pause, a delay or a late reply lasts at most, in milliseconds. */
const LONGEST_MS = 3 * LEASE_MS;
/** Masters differ in nothing, so faults of one are faults of any. */
const FAULTY_MASTER = 1;

const noFaults: Budget = {
  pauses: 0,
  delays: 0,
  crashes: 0,
  hangUps: 0,
  failovers: 0,
  freezes: 0,
  lateVotes: 0,
  restarts: 0,
  clockJumps: 0,
};

type Fields = Partial<Omit<Actor, 'id' | 'heads' | 'isInside' | 'insideOf' | 'waitsSince' | 'nextTimer'>>;
type Event = Input extends infer One ? (One extends Input ? Omit<One, 'chance'> : never) : never;

/** What happened, for a step that is told. Most steps are not, so what takes a while is made when it is asked for. */
type What = Said | (() => Said);
const saidOf = (what: What) => (typeof what === 'function' ? what() : what);
interface Answered {
  sent: Sent;
  reply: Reply;
}

/** What became of a process, and of what. */
interface Outcome {
  made: Actor;
  input: Input;
}

/** What happens to a process, and what comes with it. */
interface Happening {
  kind: StepKind;
  what: What;
  /** What changes about the process besides its history. */
  fields?: Fields;
  /** What changes about the rest. */
  more?: Partial<State>;
  messages?: Executed['messages'];
  touches?: Touch | undefined;
  answered?: Answered;
  /** Which of the things that can happen to this process it is. */
  key?: string;
}

/** The first state, and what can come after each. */
export function createMoves(common: Omit<ProcessOptions, 'script' | 'servers'>, server: Server, options: MovesOptions) {
  const { scope, masters, isInBuckets = false, lock, horizonMs } = options;
  const { actorOf } = createActors();
  const { openHistory } = createHistories();
  /** What becomes of a process, by its number and by what happens to it: it depends on nothing else. */
  const known = new Map<string, Outcome[]>();
  const never = Number.POSITIVE_INFINITY;
  const quorum = Math.floor(masters / 2) + 1;
  /** The keys of the lock of each bucket; of one where the stock is in one key. */
  const locks = (isInBuckets ? inBuckets(LOCK_KEY) : [LOCK_KEY]).map((key) => namesFor(lock.held, key));
  /** What an empty bucket is for the server. */
  const none = server.entry(server.execute(server.empty, 0, 0, ['SET', STOCK_KEY, 0]).after, STOCK_KEY);
  /** Processes of one kind differ in nothing but their names. Who begins first is no matter when all begin at once. */
  const kinds = Array.from({ length: options.processes }, (_, index) =>
    scope.allComeAtOnce
      ? ''
      : JSON.stringify([scope.script?.(index), scope.mayPause?.(index), scope.mayCrash?.(index)]),
  );

  function begin(): State {
    const unstocked = scope.isCold ? server.cold : server.empty;
    const stocked = server.execute(unstocked, 0, 0, stockCommand(scope, STOCK, isInBuckets)).after;
    const servers = [stocked, ...Array.from({ length: masters }, () => server.empty)];
    const actors = Array.from({ length: options.processes }, (_, index) => {
      const script = { businessMs: 0, ...scope.script?.(index) };
      const history = openHistory(nameOf(index), { ...common, servers: servers.length, script });
      const leaseEnds = (masters > 0 ? servers : locks).map(() => 0);
      return actorOf({ history, status: 'comes', until: 0, inbox: [], replies: [], writesBefore: 0, leaseEnds });
    });
    return {
      at: 0,
      servers,
      ahead: servers.map(() => 0),
      frozen: [],
      actors,
      budget: { ...noFaults, ...scope.budget },
      crashedAt: never,
      freeSince: 0,
      replica: scope.budget.failovers ? stocked : 0,
      sawEmpty: isInBuckets ? actors.map(() => false) : [],
    };
  }

  /**
   * Until when its lease runs, in the bucket that is given or in any: with masters, until when a majority of them keep it, in
   * milliseconds.
   */
  function leaseEndOf({ leaseEnds }: Actor, bucket?: number): number {
    if (masters === 0) return bucket === undefined ? Math.max(...leaseEnds) : (leaseEnds[bucket] ?? 0);
    return leaseEnds.slice(1).toSorted((one, other) => other - one)[quorum - 1] ?? 0;
  }

  /** It may have the lock, and not be inside yet. */
  const isHolder = (actor: Actor, at: number) =>
    actor.isInside || (actor.waitsSince !== undefined && leaseEndOf(actor) > at);

  /** Every move from this state. It is cut when time would go on beyond the horizon. */
  async function movesFrom(state: State): Promise<{ moves: Move[]; isCut: boolean }> {
    const moves: Move[] = [];
    /** Nobody has anything to do before time goes on. */
    let isQuiet = true;
    const toCome = new Set<string | undefined>();
    for (const [index, actor] of state.actors.entries()) {
      const { history, status } = actor;
      if (status === 'crashed') continue;
      if (status === 'comes') {
        // Those of one kind come in the order of their names.
        if (!toCome.has(kinds[index])) {
          const what = happens(history.seen.isReader ? 'begins to look' : 'begins');
          const begins = { at: state.at, type: 'begins' as const };
          moves.push(...(await happen(state, index, begins, { kind: 'begins', what })));
        }
        toCome.add(kinds[index]);
        continue;
      }
      const isUp = status !== 'is paused';
      const own: Move[] = [];
      for (const head of isUp ? actor.heads : []) {
        if (state.frozen.includes(head.server) || (status === 'is late' && head.line === 'commands')) continue;
        own.push(...(await deliver(state, index, head)));
      }
      const lines = new Set<string>();
      for (const unread of isUp ? actor.replies : []) {
        const line = `${unread.server} ${unread.line}`;
        if (lines.has(line)) continue;
        lines.add(line);
        const read = await readReply(state, index, unread);
        if (state.at >= unread.until) own.push(...read);
        else moves.push(...read);
      }
      if (isUp && actor.inbox.length > 0) own.push(...(await hear(state, index)));
      if (isUp && actor.nextTimer <= state.at) own.push(...(await fire(state, index)));
      if (own.length > 0) isQuiet = false;
      moves.push(...own);
      if (status === 'is paused' || status === 'is late') {
        const isOverdue = state.at >= actor.until;
        const goesOn = isOverdue || status === 'is paused' || mayGoOn(state, actor) ? await goOn(state, index) : [];
        // Beyond its limit it goes on before anything else happens.
        if (isOverdue) return { moves: goesOn, isCut: false };
        moves.push(...goesOn);
      } else if (!history.seen.isOver) moves.push(...(await faultsOf(state, index)));
    }
    moves.push(...faultsOfServers(state));
    if (scope.allComeAtOnce && toCome.size > 0) isQuiet = false;
    const nextAt = isQuiet ? nextTime(state) : undefined;
    if (nextAt === undefined) return { moves, isCut: false };
    if (nextAt > horizonMs) return { moves, isCut: true };
    moves.push(waitUntil(state, nextAt));
    return { moves, isCut: false };
  }

  /** A process that is paused wakes up; a command that is held up reaches its server. */
  async function goOn(state: State, index: number): Promise<Move[]> {
    const woken = change(state, index, { status: 'runs', until: 0 }, { kind: 'wake', what: happens('wakes up') });
    const actor = state.actors[index] as Actor;
    const head = actor.heads.find(isHeldUp);
    return actor.status === 'is late' && head ? deliver(woken.state, index, head, 'let go') : [woken];
  }

  /** Has another process done what the scope waits for before it lets a command go? */
  function mayGoOn({ actors }: State, actor: Actor): boolean {
    if (scope.goesOnAfter === undefined) return true;
    if (scope.goesOnAfter === 'wrote') return writesOfOthers(actors, actor) > actor.writesBefore;
    return actors.some((other) => other !== actor && other.isInside && other.history.seen.told.at(-1)?.step === 'read');
  }

  async function faultsOf(state: State, index: number): Promise<Move[]> {
    const moves: Move[] = [];
    const { at, budget } = state;
    const actor = state.actors[index] as Actor;
    const until = at + LONGEST_MS;
    const head = actor.heads.find(isHeldUp);
    if (budget.pauses > 0 && isHolder(actor, at) && (scope.mayPause?.(index) ?? true)) {
      // Who has the lock, and is not inside yet, is late by its pause: it was nobody's crash.
      const more = { ...spend(budget, 'pauses'), ...(!actor.isInside && { crashedAt: never }) };
      const paused = { kind: 'pause' as const, what: happens('is paused'), more };
      moves.push(change(state, index, { status: 'is paused', until }, paused));
    }
    const isMeant = (head: Pending) =>
      scope.delayed === 'writes' ? isWrite(head.command) : leaseEndOf(actor) > at && changesLock(state, index, head);
    if (budget.delays > 0 && head && isMeant(head)) {
      const what = () => happens('is held up', { command: asRead(head.command) });
      const late = { status: 'is late' as const, until, writesBefore: writesOfOthers(state.actors, actor) };
      moves.push(change(state, index, late, { kind: 'hold up', what, more: spend(budget, 'delays') }));
    }
    if (budget.crashes > 0 && isHolder(actor, at) && (scope.mayCrash?.(index) ?? true)) {
      const servers = state.servers.map((each) => server.without(each, index));
      const dead = { status: 'crashed' as const, inbox: [], replies: [] };
      // The lock of one whose lease is over is no longer its own: somebody else may have it for long.
      const crashedAt = leaseEndOf(actor) > at ? at : state.crashedAt;
      const more = { ...spend(budget, 'crashes'), crashedAt, servers };
      moves.push(change(state, index, dead, { kind: 'crash', what: happens('is killed'), more }));
    }
    if (budget.hangUps > 0 && actor.waitsSince !== undefined) {
      const hangsUp = { kind: 'hang up' as const, what: happens('hangs up'), more: spend(budget, 'hangUps') };
      moves.push(...(await happen(state, index, { at, type: 'hangs-up' }, hangsUp)));
    }
    return moves;
  }

  function faultsOfServers(state: State): Move[] {
    const { budget, servers, ahead, frozen } = state;
    const moves: Move[] = [];
    const fault = (kind: StepKind, what: Said, more: Partial<State>) =>
      moves.push({ state: { ...state, ...more }, step: () => stepOf(state, 'the server', kind, what) });
    if (budget.failovers > 0 && state.replica !== servers[0]) {
      const failed = replaced(servers, 0, state.replica);
      fault('failover', happens('fails over'), { ...spend(budget, 'failovers'), servers: failed });
    }
    if (budget.freezes > 0) {
      const what = happens('stands still', { master: FAULTY_MASTER });
      fault('freeze', what, { ...spend(budget, 'freezes'), frozen: [...frozen, FAULTY_MASTER] });
    }
    if (budget.restarts > 0 && servers[FAULTY_MASTER] !== server.empty) {
      const what = happens('starts again empty', { master: FAULTY_MASTER });
      const forgetful = replaced(servers, FAULTY_MASTER, server.cold);
      fault('restart empty', what, { ...spend(budget, 'restarts'), servers: forgetful });
    }
    if (budget.clockJumps > 0 && servers[FAULTY_MASTER] !== server.empty) {
      const what = happens('clock jumps', { master: FAULTY_MASTER, ms: LEASE_MS });
      const jumped = replaced(ahead, FAULTY_MASTER, LEASE_MS + 1);
      fault('clock jump', what, { ...spend(budget, 'clockJumps'), ahead: jumped });
    }
    return moves;
  }

  /** The next moment at which something can happen, if any can. */
  function nextTime({ at, servers, ahead, actors }: State): number | undefined {
    let next = never;
    let isSomebodyAway = false;
    const consider = (time: number) => {
      if (time > at && time < next) next = time;
    };
    for (const { status, until, nextTimer, replies } of actors) {
      if (status === 'runs' || status === 'is late') consider(nextTimer);
      if (status === 'is paused' || status === 'is late') consider(until);
      for (const reply of replies) consider(reply.until);
      isSomebodyAway ||= status === 'is paused' || status === 'is late' || replies.length > 0;
    }
    if (isSomebodyAway) {
      for (const [index, each] of servers.entries()) {
        for (const end of server.ends(each).values()) consider(end + 1 - (ahead[index] ?? 0));
      }
    }
    return next === never ? undefined : next;
  }

  function waitUntil(state: State, nextAt: number): Move {
    const endsAt = masters === 0 ? lastEnd(state.servers[0] as number) : -1;
    const freeSince = Math.min(state.freeSince, endsAt >= 0 && endsAt < nextAt ? endsAt + 1 : never);
    const step = () => ({
      ...stepOf(state, 'the clock', 'clock', happens('clock goes on', { ms: nextAt })),
      at: nextAt,
    });
    return { state: { ...state, at: nextAt, freeSince }, step };
  }

  /** The timer that is due first fires. */
  async function fire(state: State, index: number) {
    const actor = state.actors[index] as Actor;
    const due = actor.history.seen.timers.filter(({ due }) => due <= state.at).sort((a, b) => a.due - b.due)[0];
    if (due === undefined) return [];
    const timer = { at: state.at, type: 'timer' as const, id: due.id };
    return happen(state, index, timer, { kind: 'timer', what: happens('timer fires') });
  }

  /** A process takes the oldest thing that came to the connection that listens: a message, or the reply to a command. */
  async function hear(state: State, index: number) {
    const [heard, ...inbox] = state.actors[index]?.inbox ?? [];
    if (heard === undefined) return [];
    if ('reply' in heard) return readReply(state, index, heard);
    const what = () => happens('hears', heard);
    const message = { at: state.at, type: 'message' as const, ...heard };
    return happen(state, index, message, { kind: 'message', what, fields: { inbox } });
  }

  /**
   * Can anything come to the process between its command and the reply? Otherwise they are one step: only the process itself could tell
   * them apart.
   */
  function isSeenBetween({ at, budget }: State, index: number, actor: Actor, { line }: Pending, after: ServerState) {
    const isAsked = budget.hangUps > 0 && actor.waitsSince !== undefined;
    const isPaused = budget.pauses > 0 && (scope.mayPause?.(index) ?? true) && isHolder(actor, at);
    const hears = line === 'messages' || actor.inbox.length > 0 || server.listens(after, index);
    return isAsked || isPaused || hears || actor.nextTimer <= at;
  }

  /** A command reaches its server, and its reply the process: at once where nobody can tell, or later. */
  async function deliver(state: State, index: number, head: Pending, kind: StepKind = 'command'): Promise<Move[]> {
    const { at, servers, ahead, budget } = state;
    const actor = state.actors[index] as Actor;
    const before = servers[head.server] as number;
    const aheadMs = ahead[head.server] ?? 0;
    const { id, reply, after, messages } = server.execute(before, at + aheadMs, index, head.command);
    let leaseEnds = actor.leaseEnds;
    let touches: Touch | undefined;
    for (const [bucket, keys] of masters > 0 && head.server === 0 ? [] : locks.entries()) {
      const place = masters > 0 ? head.server : bucket;
      const endsAt = endOf(keys, server.ends(after));
      // Who makes the lock live longer has the lease.
      if (endsAt > endOf(keys, server.ends(before))) leaseEnds = replaced(leaseEnds, place, endsAt - aheadMs);
      if (changes(before, after, keys)) touches = { process: index, place };
    }
    const more: Partial<State> = {
      servers: replaced(servers, head.server, after),
      ...(masters === 0 && { freeSince: freeSinceAfter(state, lastEnd(after)) }),
      ...(budget.failovers > 0 && after !== before && { replica: before }),
    };
    const sent = { server: head.server, line: head.line, command: head.command, hasChanged: after !== before };
    const toServer = { master: head.server };
    const what = () => {
      const command = asRead(head.command);
      if (kind === 'let go') return happens('sends late', { command });
      return head.server > 0 ? happens('sends to a master', { command, ...toServer }) : happens('sends', { command });
    };
    const happening = { kind, what, more, messages, touches, answered: { sent, reply } };
    const unread = (until: number) => {
      const came = { id: head.id, server: head.server, line: head.line, reply, until };
      return head.line === 'messages'
        ? { inbox: [...actor.inbox, came], leaseEnds }
        : { replies: [...actor.replies, came], leaseEnds };
    };
    const isBehind = actor.replies.some((one) => one.server === head.server && one.line === head.line);
    const moves: Move[] = [];
    if (isBehind || isSeenBetween(state, index, { ...actor, leaseEnds }, head, after))
      moves.push(change(state, index, unread(at), happening));
    else {
      const input = { at, type: 'reply' as const, id: head.id, reply };
      // Servers whose states are the same answer the same: which of its commands is answered is for the process to know.
      const key = `executed ${id} for ${head.id} at ${at}`;
      moves.push(...(await happen(state, index, input, { ...happening, fields: { leaseEnds }, key })));
    }
    if (budget.lateVotes > 0 && head.server === FAULTY_MASTER && !isBehind) {
      const spent = { ...more, ...spend(budget, 'lateVotes') };
      const late = () => happens('sends, the reply is held up', { command: asRead(head.command), ...toServer });
      moves.push(
        change(state, index, unread(at + LONGEST_MS), { ...happening, kind: 'hold reply', what: late, more: spent }),
      );
    }
    return moves;
  }

  function readReply(state: State, index: number, unread: Unread) {
    const { inbox, replies } = state.actors[index] as Actor;
    const { id, reply } = unread;
    const fields = { inbox: inbox.filter((one) => one !== unread), replies: replies.filter((one) => one !== unread) };
    const what = () => happens('reads the reply', { reply: nameOfReply(reply) });
    const input = { at: state.at, type: 'reply' as const, id, reply };
    const key = `reply ${id} at ${state.at}`;
    return happen(state, index, input, { kind: 'reply', what, fields, key });
  }

  /** Is the lock of these keys another one afterwards? */
  const changes = (before: ServerState, after: ServerState, keys: string[]) =>
    before !== after && keys.some((key) => server.entry(after, key) !== server.entry(before, key));

  /** Does this command change a lock now? */
  function changesLock({ at, servers }: State, index: number, { command }: Pending): boolean {
    const before = servers[0] as ServerState;
    const { after } = server.execute(before, at, index, command);
    return locks.some((keys) => changes(before, after, keys));
  }

  /** The last millisecond in which a lock is there; -1 when none is. */
  const lastEnd = (held: ServerState) => Math.max(...locks.map((keys) => endOf(keys, server.ends(held))));

  function freeSinceAfter({ at, freeSince }: State, endsAt: number): number {
    if (endsAt >= at) return never;
    return freeSince === never ? at : freeSince;
  }

  function withMessages(actors: State['actors'], messages: { to: number; channel: string; message: string }[]) {
    const changed = [...actors];
    for (const { to, ...message } of messages) {
      const hearer = changed[to] as Actor;
      changed[to] = actorOf({ ...hearer, inbox: [...hearer.inbox, message] });
    }
    return changed;
  }

  /** Something happens to a process. What it does may depend on its luck: there is a move for each. */
  async function happen(state: State, index: number, event: Event, happening: Happening): Promise<Move[]> {
    const actor = state.actors[index] as Actor;
    const { fields = {}, key = `${event.type} at ${event.at}` } = happening;
    const name = `${actor.id} ${key}`;
    let outcomes = known.get(name);
    if (outcomes === undefined) {
      outcomes = await outcomesOf(actor, event, fields);
      known.set(name, outcomes);
    }
    return outcomes.map(({ made, input }) => moved(state, index, made, { ...happening, input }));
  }

  async function outcomesOf(actor: Actor, event: Event, fields: Fields): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const chance of CHANCES) {
      const input = { ...event, chance } as Input;
      const found = actor.history.after(input);
      const history: History = found instanceof Promise ? await found : found;
      outcomes.push({ input, made: actorOf({ ...actor, ...fields, history, ...statusAfter(actor, history) }) });
      if (!history.seen.hasUsedChance) break;
    }
    return outcomes;
  }

  /** Something about a process changes from outside. */
  function change(state: State, index: number, fields: Fields, happening: Happening): Move {
    return moved(state, index, actorOf({ ...(state.actors[index] as Actor), ...fields }), happening);
  }

  function moved(state: State, index: number, made: Actor, happening: Happening & { input?: Input }): Move {
    const { kind, what, more, touches, answered, messages, input } = happening;
    const toldBefore = (state.actors[index] as Actor).history.seen.told.length;
    const { told, hasUsedChance } = made.history.seen;
    const luck = hasUsedChance ? input?.chance : undefined;
    const hasEntered = told.length > toldBefore && told.slice(toldBefore).some(({ step }) => step === 'entered');
    const actors = replaced(state.actors, index, made);
    const next = {
      ...state,
      ...more,
      ...(hasEntered && { crashedAt: never }),
      actors: messages ? withMessages(actors, messages) : actors,
    };
    return {
      state: isInBuckets && isEmpty(next) ? { ...next, sawEmpty: next.actors.map(hasCome) } : next,
      step: () => ({
        ...stepOf(state, nameOf(index), kind, withLuck(saidOf(what), luck)),
        ...(answered && { sent: answered.sent, reply: nameOfReply(answered.reply) }),
        ...(input && { input }),
        told: told.slice(toldBefore),
      }),
      ...(touches !== undefined && { touches }),
    };
  }

  const isEmpty = ({ servers }: State) =>
    inBuckets(STOCK_KEY).every((key) => server.entry(servers[0] as number, key) === none);

  return { begin, movesFrom, leaseEndOf };
}

const hasCome = ({ status }: Actor) => status !== 'comes';

/** The line on which a command may be held up: to the server of the stock. */
const isHeldUp = ({ line, server }: Pending) => line === 'commands' && server === 0;

function statusAfter({ status }: Actor, { seen }: History): Fields {
  if (seen.death !== undefined) return { status: 'crashed', inbox: [], replies: [] };
  return status === 'comes' ? { status: 'runs' } : {};
}

const withLuck = (what: Said, chance: number | undefined): Clause =>
  chance === undefined ? what : { form: 'with luck', values: { what, chance } };

const stepOf = ({ at }: State, process: string, kind: StepKind, what: Clause): Step => ({
  at,
  process,
  kind,
  what,
  told: [],
});

const spend = (budget: Budget, fault: keyof Budget) => ({ budget: { ...budget, [fault]: budget[fault] - 1 } });

function writesOfOthers(actors: State['actors'], actor: Actor): number {
  const others = actors.filter((other) => other !== actor);
  return others.reduce((sum, { history }) => sum + history.seen.told.filter(({ step }) => step === 'wrote').length, 0);
}
