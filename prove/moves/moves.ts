// All moves that are possible in a state.
//
// A process comes, runs, is paused, is late (a command of it is held up) or has crashed. While it runs
//   its oldest command on each connection reaches the server, and a reply or a message reaches the process  (commands.ts)
//   its timer fires                                                                                         (clock.ts)
//   it is paused, held up, killed, or hangs up, as long as the budget allows it                             (faults.ts)
// What it does because of that is its own code's (processes.ts), and who has the lock then, the servers' (leases.ts). Time goes on when
// nobody has anything to do but to wait. It never goes on past the end of a pause or a delay: that is the only move then.

import type { ProcessOptions } from '../process.ts';
import { type Budget, stockCommand } from '../scopes.ts';
import type { Server } from '../server.ts';
import { STOCK, type State } from '../state.ts';
import { happens } from '../wording.ts';
import { createClock } from './clock.ts';
import { createCommands } from './commands.ts';
import { createFaults } from './faults.ts';
import { createLeases, type Leases } from './leases.ts';
import { type Move, type MovesOptions, NEVER } from './move.ts';
import { createProcesses, type Processes } from './processes.ts';

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

export interface Found {
  moves: Move[];
  isCut: boolean;
}

/** The first state, and what can come after each. */
export function createMoves(common: Omit<ProcessOptions, 'script' | 'servers'>, server: Server, options: MovesOptions) {
  const { scope, horizonMs } = options;
  const leases = createLeases(server, options);
  const processes = createProcesses(common, server, options);
  const commands = createCommands(server, options, leases, processes);
  const clock = createClock(server, options, leases, processes);
  const faults = createFaults(server, options, leases, processes, commands);
  const kinds = kindsOf(options);

  /** Every move from this state: at once, where what becomes of each process is known. It is cut when time would go on beyond the horizon. */
  function movesFrom(state: State): Found | Promise<Found> {
    const found = movesKnown(state);
    return processes.isAsked() ? movesFoundOut(state) : found;
  }

  async function movesFoundOut(state: State): Promise<Found> {
    await processes.findOut();
    return movesFrom(state);
  }

  /** Every move of which it is known what becomes of its process. */
  function movesKnown(state: State): Found {
    const { at, actors, frozen } = state;
    const moves: Move[] = [];
    /** Nobody has anything to do before time goes on. */
    let isQuiet = true;
    const toCome = new Set<string | undefined>();
    for (const [index, actor] of actors.entries()) {
      const { status } = actor;
      if (status === 'crashed') continue;
      if (status === 'comes') {
        // Those of one kind come in the order of their names.
        if (!toCome.has(kinds[index])) {
          const what = happens(actor.history.seen.isReader ? 'begins to look' : 'begins');
          moves.push(...processes.happen(state, index, { at, type: 'begins' }, { kind: 'begins', what }));
        }
        toCome.add(kinds[index]);
        continue;
      }
      const isUp = status !== 'is paused';
      const own: Move[] = [];
      for (const head of isUp ? actor.heads : []) {
        if (frozen.includes(head.server) || (status === 'is late' && head.line === 'commands')) continue;
        own.push(...commands.deliver(state, index, head));
      }
      if (isUp && actor.replies.length > 0) {
        const { due, early } = commands.read(state, index);
        own.push(...due);
        moves.push(...early);
      }
      if (isUp && actor.inbox.length > 0) own.push(...commands.hear(state, index));
      if (isUp && actor.nextTimer <= at) own.push(...clock.fire(state, index));
      if (own.length > 0) isQuiet = false;
      moves.push(...own);
      if (status === 'is paused' || status === 'is late') {
        // Beyond its limit it goes on before anything else happens.
        if (at >= actor.until) return { moves: faults.goOn(state, index), isCut: false };
        if (faults.mayGoOn(state, actor)) moves.push(...faults.goOn(state, index));
      } else if (!actor.history.seen.isOver) moves.push(...faults.ofProcess(state, index));
    }
    moves.push(...faults.ofServers(state));
    if (scope.allComeAtOnce && toCome.size > 0) isQuiet = false;
    const nextAt = isQuiet ? clock.nextTime(state) : undefined;
    if (nextAt === undefined) return { moves, isCut: false };
    if (nextAt > horizonMs) return { moves, isCut: true };
    moves.push(clock.waitUntil(state, nextAt));
    return { moves, isCut: false };
  }

  return {
    begin: () => firstState(server, options, leases, processes),
    movesFrom,
    leaseEndOf: leases.endFor,
    endProcesses: processes.endAll,
  };
}

/** Processes of one kind differ in nothing but their names. Who begins first is no matter when all begin at once. */
const kindsOf = ({ scope, processes }: MovesOptions) =>
  Array.from({ length: processes }, (_, index) =>
    scope.allComeAtOnce
      ? ''
      : JSON.stringify([scope.script?.(index), scope.mayPause?.(index), scope.mayCrash?.(index)]),
  );

function firstState(server: Server, options: MovesOptions, leases: Leases, { open }: Processes): State {
  const { scope, masters, isInBuckets = false } = options;
  const unstocked = scope.isCold ? server.cold : server.empty;
  const stocked = server.execute(unstocked, 0, 0, stockCommand(scope, STOCK, isInBuckets)).after;
  const servers = [stocked, ...Array.from({ length: masters }, () => server.empty)];
  const actors = Array.from({ length: options.processes }, (_, index) => open(index, leases.none));
  return {
    at: 0,
    servers,
    ahead: servers.map(() => 0),
    frozen: [],
    actors,
    budget: { ...noFaults, ...scope.budget },
    crashedAt: NEVER,
    freeSince: 0,
    replica: scope.budget.failovers ? stocked : 0,
    sawEmpty: isInBuckets ? actors.map(() => false) : [],
  };
}
