// What a process does when something happens to it. It depends only on its history, so it is computed once for each history.

import type { Reply } from '../../simulation/valkey.ts';
import type { Input } from '../../simulation/world.ts';
import { createHistories, type History, type ProcessOptions } from '../process.ts';
import { inBuckets, STOCK_KEY } from '../sale.ts';
import type { Executed, Server } from '../server.ts';
import {
  type Actor,
  createActors,
  nameOf,
  replaced,
  type Sent,
  type State,
  type Step,
  type StepKind,
} from '../state.ts';
import type { Clause, Happening as Said } from '../wording.ts';
import { nameOfReply } from '../words.ts';
import { type Move, type MovesOptions, NEVER, stepOf, type Touch } from './move.ts';

/** What `Math.random()` may return: the search tries each. */
const CHANCES = [0.1, 0.9];

export type Fields = Partial<Omit<Actor, 'id' | 'heads' | 'isInside' | 'insideOf' | 'waitsSince' | 'nextTimer'>>;
type Event = Input extends infer One ? (One extends Input ? Omit<One, 'chance'> : never) : never;

/** What happens to a process, and what comes with it. */
export interface Happening {
  kind: StepKind;
  /** For a step that is told. Most steps are not, so what takes a while is made when it is asked for. */
  what: Said | (() => Said);
  /** What changes about the process besides its history. */
  fields?: Fields;
  /** What changes about the rest. */
  more?: Partial<Pick<State, 'servers' | 'budget' | 'crashedAt' | 'freeSince' | 'replica'>>;
  messages?: Executed['messages'];
  touches?: Touch | undefined;
  answered?: { sent: Sent; reply: Reply };
  /** Which of the things that can happen to this process it is. */
  key?: string;
}

/** What became of a process, and of what. */
interface Outcome {
  made: Actor;
  input: Input;
}

export type Processes = ReturnType<typeof createProcesses>;

export function createProcesses(
  common: Omit<ProcessOptions, 'script' | 'servers'>,
  server: Server,
  options: MovesOptions,
) {
  const { scope, masters, isInBuckets = false } = options;
  const { actorOf } = createActors();
  const { openHistory, endAll } = createHistories();
  const areEmpty = lookingIntoBuckets(server);
  /** What becomes of a process, by its number and by what happens to it. */
  const known = new Map<string, Outcome[]>();
  /** What was asked for and is not known yet. */
  const asked = new Map<string, () => Promise<Outcome[]>>();

  /** One that has not begun, and has these leases. */
  function open(index: number, leaseEnds: readonly number[]): Actor {
    const script = { businessMs: 0, ...scope.script?.(index) };
    const history = openHistory(nameOf(index), { ...common, servers: masters + 1, script });
    return actorOf({ history, status: 'comes', until: 0, inbox: [], replies: [], writesBefore: 0, leaseEnds });
  }

  /**
   * Something happens to a process. What it does may depend on its luck: there is a move for each. None where it is to be found out first.
   */
  function happen(state: State, index: number, event: Event, happening: Happening): Move[] {
    const actor = state.actors[index] as Actor;
    const { fields = {}, key = `${event.type} at ${event.at}` } = happening;
    const name = `${actor.id} ${key}`;
    const outcomes = known.get(name);
    if (outcomes === undefined) asked.set(name, () => outcomesOf(actor, event, fields));
    return (outcomes ?? []).map(({ made, input }) => moved(state, index, made, happening, input));
  }

  /** Finds out what was asked for. */
  async function findOut() {
    for (const [name, find] of asked) known.set(name, await find());
    asked.clear();
  }

  async function outcomesOf(actor: Actor, event: Event, fields: Fields): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const chance of CHANCES) {
      const input = { ...event, chance } as Input;
      const history = await actor.history.after(input);
      outcomes.push({ input, made: actorOf({ ...actor, ...fields, history, ...statusAfter(actor, history) }) });
      if (!history.seen.hasUsedChance) break;
    }
    return outcomes;
  }

  /** Something about a process changes from outside. */
  const change = (state: State, index: number, fields: Fields, happening: Happening): Move =>
    moved(state, index, actorOf({ ...(state.actors[index] as Actor), ...fields }), happening);

  function moved(state: State, index: number, made: Actor, happening: Happening, input?: Input): Move {
    const { more = {}, touches, messages } = happening;
    const toldBefore = (state.actors[index] as Actor).history.seen.told.length;
    const actors = replaced(state.actors, index, made);
    for (const { to, channel, message } of messages ?? []) {
      const hearer = actors[to] as Actor;
      actors[to] = actorOf({ ...hearer, inbox: [...hearer.inbox, { channel, message }] });
    }
    const next: State = {
      at: state.at,
      servers: more.servers ?? state.servers,
      ahead: state.ahead,
      frozen: state.frozen,
      actors,
      budget: more.budget ?? state.budget,
      crashedAt: hasEntered(made, toldBefore) ? NEVER : (more.crashedAt ?? state.crashedAt),
      freeSince: more.freeSince ?? state.freeSince,
      replica: more.replica ?? state.replica,
      sawEmpty: state.sawEmpty,
    };
    if (isInBuckets && areEmpty(next)) next.sawEmpty = actors.map(({ status }) => status !== 'comes');
    const step = () => stepAfter(state, index, made, happening, input);
    return touches === undefined ? { state: next, step } : { state: next, step, touches };
  }

  return { open, happen, isAsked: () => asked.size > 0, findOut, change, endAll };
}

/** Has the process entered since it told so much? */
function hasEntered({ history }: Actor, toldBefore: number): boolean {
  const { told } = history.seen;
  for (let at = toldBefore; at < told.length; at += 1) if (told[at]?.step === 'entered') return true;
  return false;
}

/** What happened to a process, and what it did because of that. */
function stepAfter(state: State, index: number, made: Actor, happening: Happening, input?: Input): Step {
  const { kind, what, answered } = happening;
  const toldBefore = (state.actors[index] as Actor).history.seen.told.length;
  const { told, hasUsedChance } = made.history.seen;
  const luck = hasUsedChance ? input?.chance : undefined;
  return {
    ...stepOf(state, nameOf(index), kind, withLuck(typeof what === 'function' ? what() : what, luck)),
    ...(answered && { sent: answered.sent, reply: nameOfReply(answered.reply) }),
    ...(input && { input }),
    told: told.slice(toldBefore),
  };
}

function statusAfter({ status }: Actor, { seen }: History): Fields {
  if (seen.death !== undefined) return { status: 'crashed', inbox: [], replies: [] };
  return status === 'comes' ? { status: 'runs' } : {};
}

/** Tells whether every bucket of a state is empty. */
function lookingIntoBuckets(server: Server) {
  /** What an empty bucket is for the server. */
  const none = server.entry(server.execute(server.empty, 0, 0, ['SET', STOCK_KEY, 0]).after, STOCK_KEY);
  const buckets = inBuckets(STOCK_KEY);
  return ({ servers }: State) => buckets.every((key) => server.entry(servers[0] as number, key) === none);
}

const withLuck = (what: Said, chance: number | undefined): Clause =>
  chance === undefined ? what : { form: 'with luck', values: { what, chance } };
