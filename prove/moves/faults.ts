// The faults: they happen as long as the budget of the scope allows it, and end again.
//
// A process that runs may be paused, have a command held up, be killed or hang up. Who is paused wakes up at any time, and who is late
// sends its command when the scope lets it go: both after three leases at the latest. Who is killed never comes back. A server fails
// over, stands still, forgets or has a clock that jumps, for good.

import type { Pending } from '../../simulation/world/commands.ts';
import { LEASE_MS } from '../sale.ts';
import { isWrite } from '../scopes.ts';
import type { Server } from '../server.ts';
import { type Actor, replaced, type State, type StepKind } from '../state.ts';
import { happens, type Happening as Said } from '../wording.ts';
import { asRead } from '../words.ts';
import { type Commands, isHeldUp } from './commands.ts';
import type { Leases } from './leases.ts';
import { FAULTY_MASTER, LONGEST_MS, type Move, type MovesOptions, NEVER, spend, stepOf } from './move.ts';
import type { Processes } from './processes.ts';

export function createFaults(
  server: Server,
  { scope }: MovesOptions,
  leases: Leases,
  { happen, change }: Processes,
  commands: Commands,
) {
  /** What may go wrong with a process. */
  function ofProcess(state: State, index: number): Move[] {
    const moves: Move[] = [];
    const { at, budget } = state;
    const actor = state.actors[index] as Actor;
    const head = actor.heads.find(isHeldUp);
    const isHolder = () => leases.isHolder(actor, at);
    if (budget.pauses > 0 && isHolder() && (scope.mayPause?.(index) ?? true)) moves.push(pause(state, index, actor));
    if (budget.delays > 0 && head && mayBeLate(state, index, head)) moves.push(holdUp(state, index, head));
    if (budget.crashes > 0 && isHolder() && (scope.mayCrash?.(index) ?? true)) moves.push(kill(state, index, actor));
    if (budget.hangUps > 0 && actor.waitsSince !== undefined) {
      const hangsUp = {
        kind: 'hang up' as const,
        what: happens('hangs up'),
        more: { budget: spend(budget, 'hangUps') },
      };
      moves.push(...happen(state, index, { at, type: 'hangs-up' }, hangsUp));
    }
    return moves;
  }

  function pause(state: State, index: number, { isInside }: Actor): Move {
    const paused = { status: 'is paused' as const, until: state.at + LONGEST_MS };
    // Who has the lock, and is not inside yet, is late by its pause: it was nobody's crash.
    const more = { budget: spend(state.budget, 'pauses'), crashedAt: isInside ? state.crashedAt : NEVER };
    return change(state, index, paused, { kind: 'pause', what: happens('is paused'), more });
  }

  function mayBeLate(state: State, index: number, { command }: Pending): boolean {
    if (scope.delayed === 'writes') return isWrite(command);
    const isLeased = leases.endFor(state.actors[index] as Actor) > state.at;
    return isLeased && leases.changesLock(state, index, command);
  }

  function holdUp(state: State, index: number, { command }: Pending): Move {
    const writesBefore = writesOfOthers(state.actors, state.actors[index] as Actor);
    const late = { status: 'is late' as const, until: state.at + LONGEST_MS, writesBefore };
    const what = () => happens('is held up', { command: asRead(command) });
    return change(state, index, late, { kind: 'hold up', what, more: { budget: spend(state.budget, 'delays') } });
  }

  function kill(state: State, index: number, actor: Actor): Move {
    const servers = state.servers.map((each) => server.without(each, index));
    const dead = { status: 'crashed' as const, inbox: [], replies: [] };
    // The lock of one whose lease is over is no longer its own: somebody else may have it for long.
    const crashedAt = leases.endFor(actor) > state.at ? state.at : state.crashedAt;
    const more = { budget: spend(state.budget, 'crashes'), crashedAt, servers };
    return change(state, index, dead, { kind: 'crash', what: happens('is killed'), more });
  }

  return {
    ofProcess,
    /** May a process that is paused or late go on? Who is late waits for what the scope says another must do. */
    mayGoOn({ actors }: State, actor: Actor): boolean {
      if (actor.status === 'is paused' || scope.goesOnAfter === undefined) return true;
      if (scope.goesOnAfter === 'wrote') return writesOfOthers(actors, actor) > actor.writesBefore;
      return actors.some(
        (other) => other !== actor && other.isInside && other.history.seen.told.at(-1)?.step === 'read',
      );
    },
    /** A process that is paused wakes up; a command that is held up reaches its server. */
    goOn(state: State, index: number): Move[] {
      const woken = change(state, index, { status: 'runs', until: 0 }, { kind: 'wake', what: happens('wakes up') });
      const actor = state.actors[index] as Actor;
      const head = actor.heads.find(isHeldUp);
      return actor.status === 'is late' && head ? commands.deliver(woken.state, index, head, 'let go') : [woken];
    },
    ofServers: (state: State) => faultsOfServers(state, server),
  };
}

function faultsOfServers(state: State, server: Server): Move[] {
  const { budget, servers, ahead, frozen } = state;
  const moves: Move[] = [];
  const fault = (kind: StepKind, what: Said, more: Partial<State>) =>
    moves.push({ state: { ...state, ...more }, step: () => stepOf(state, 'the server', kind, what) });
  if (budget.failovers > 0 && state.replica !== servers[0]) {
    const failed = replaced(servers, 0, state.replica);
    fault('failover', happens('fails over'), { budget: spend(budget, 'failovers'), servers: failed });
  }
  if (budget.freezes > 0) {
    const what = happens('stands still', { master: FAULTY_MASTER });
    fault('freeze', what, { budget: spend(budget, 'freezes'), frozen: [...frozen, FAULTY_MASTER] });
  }
  if (budget.restarts > 0 && servers[FAULTY_MASTER] !== server.empty) {
    const what = happens('starts again empty', { master: FAULTY_MASTER });
    const forgetful = replaced(servers, FAULTY_MASTER, server.cold);
    fault('restart empty', what, { budget: spend(budget, 'restarts'), servers: forgetful });
  }
  if (budget.clockJumps > 0 && servers[FAULTY_MASTER] !== server.empty) {
    const what = happens('clock jumps', { master: FAULTY_MASTER, ms: LEASE_MS });
    const jumped = replaced(ahead, FAULTY_MASTER, LEASE_MS + 1);
    fault('clock jump', what, { budget: spend(budget, 'clockJumps'), ahead: jumped });
  }
  return moves;
}

function writesOfOthers(actors: State['actors'], actor: Actor): number {
  const others = actors.filter((other) => other !== actor);
  return others.reduce((sum, { history }) => sum + history.seen.told.filter(({ step }) => step === 'wrote').length, 0);
}
