// Commands and replies on the way.
//
// A command waits on a connection of its process until it is the oldest there; then it may reach its server, which answers at once. The
// reply reaches the process
//   in the same step    where nobody could tell that from two steps, which saves the search most of its states;
//   in a step of its own    when something can come to the process meanwhile, or an earlier reply is still on this connection;
//   up to three leases later    when a vote of a master may be late.
// A connection that listens has an inbox instead, where messages and replies keep their order.

import type { Pending } from '../../simulation/world/commands.ts';
import type { Scope } from '../scopes.ts';
import type { Executed, Server } from '../server.ts';
import { type Actor, replaced, type State, type StepKind, type Unread } from '../state.ts';
import { happens } from '../wording.ts';
import { asRead, nameOfReply } from '../words.ts';
import type { Leases } from './leases.ts';
import { FAULTY_MASTER, LONGEST_MS, type Move, type MovesOptions, spend } from './move.ts';
import type { Processes } from './processes.ts';

/** True for the connection on which a command may be held: the one to the server of the stock. */
export const isHeldUp = ({ line, server }: Pending) => line === 'commands' && server === 0;

export type Commands = ReturnType<typeof createCommands>;

export function createCommands(server: Server, { scope, masters }: MovesOptions, leases: Leases, processes: Processes) {
  const { happen, change } = processes;
  const seesBetween = lookingBetween(server, scope, leases);

  /** A command reaches its server, and its reply the process: at once where nobody can tell, or later. */
  function deliver(state: State, index: number, head: Pending, kind: StepKind = 'command'): Move[] {
    const { at, servers, ahead, budget } = state;
    const actor = state.actors[index] as Actor;
    const before = servers[head.server] as number;
    const executed = server.execute(before, at + (ahead[head.server] ?? 0), index, head.command);
    const { id, reply, after, messages } = executed;
    const { leaseEnds, touches } = leases.afterCommand(state, index, head.server, after);
    const more = {
      servers: after === before ? servers : replaced(servers, head.server, after),
      freeSince: masters === 0 ? leases.freeSince(state, leases.lastEnd(after)) : state.freeSince,
      replica: budget.failovers > 0 && after !== before ? before : state.replica,
    };
    const sent = { server: head.server, line: head.line, command: head.command, hasChanged: after !== before };
    const what = () => asSent(head, kind);
    const happening = { kind, what, more, messages, touches, answered: { sent, reply } };
    const unread = (until: number) => asUnread(actor, head, executed, until, leaseEnds);
    const isBehind = actor.replies.some((one) => one.server === head.server && one.line === head.line);
    const moves: Move[] = [];
    if (isBehind || seesBetween(state, index, leaseEnds, head, after))
      moves.push(change(state, index, unread(at), happening));
    else {
      const input = { at, type: 'reply' as const, id: head.id, reply };
      // Servers whose states are the same answer the same: which of its commands is answered is for the process to know.
      const key = `executed ${id} for ${head.id} at ${at}`;
      moves.push(...happen(state, index, input, { ...happening, fields: { leaseEnds }, key }));
    }
    if (budget.lateVotes > 0 && head.server === FAULTY_MASTER && !isBehind) {
      const late = () => happens('sends, the reply is held up', { command: asRead(head.command), master: head.server });
      const spent = { ...more, budget: spend(budget, 'lateVotes') };
      const held = { ...happening, kind: 'hold reply' as const, what: late, more: spent };
      moves.push(change(state, index, unread(at + LONGEST_MS), held));
    }
    return moves;
  }

  /** A process takes the oldest thing that came to the connection that listens: a message, or the reply to a command. */
  function hear(state: State, index: number): Move[] {
    const [heard, ...inbox] = state.actors[index]?.inbox ?? [];
    if (heard === undefined) return [];
    if ('reply' in heard) return readReply(state, index, heard);
    const what = () => happens('hears', heard);
    const message = { at: state.at, type: 'message' as const, ...heard };
    return happen(state, index, message, { kind: 'message', what, fields: { inbox } });
  }

  /** The oldest reply on each connection reaches its process: those that are due by now, and those that may be later. */
  function read(state: State, index: number): { due: Move[]; early: Move[] } {
    const due: Move[] = [];
    const early: Move[] = [];
    const { replies } = state.actors[index] as Actor;
    for (const unread of replies) {
      const isOnSameLine = ({ server, line }: Unread) => server === unread.server && line === unread.line;
      if (replies.find(isOnSameLine) !== unread) continue;
      (state.at >= unread.until ? due : early).push(...readReply(state, index, unread));
    }
    return { due, early };
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

  return { deliver, hear, read };
}

/**
 * Can anything come to the process between its command and the reply? Otherwise they are one step: only the process itself could tell
 * them apart.
 */
const lookingBetween =
  (server: Server, scope: Scope, leases: Leases) =>
  (
    { at, budget, actors }: State,
    index: number,
    leaseEnds: readonly number[],
    { line }: Pending,
    after: number,
  ): boolean => {
    const actor = actors[index] as Actor;
    const isAsked = budget.hangUps > 0 && actor.waitsSince !== undefined;
    const isPaused = budget.pauses > 0 && (scope.mayPause?.(index) ?? true) && leases.isHolder(actor, at, leaseEnds);
    const hears = line === 'messages' || actor.inbox.length > 0 || server.listens(after, index);
    return isAsked || isPaused || hears || actor.nextTimer <= at;
  };

/** What the process has besides, until it reads the reply. */
function asUnread(
  { inbox, replies }: Actor,
  { id, server, line }: Pending,
  { reply }: Executed,
  until: number,
  leaseEnds: readonly number[],
) {
  const came = { id, server, line, reply, until };
  return line === 'messages' ? { inbox: [...inbox, came], leaseEnds } : { replies: [...replies, came], leaseEnds };
}

function asSent({ server, command: sent }: Pending, kind: StepKind) {
  const command = asRead(sent);
  if (kind === 'let go') return happens('sends late', { command });
  return server > 0 ? happens('sends to a master', { command, master: server }) : happens('sends', { command });
}
