// The clock of the search. When no process can act, it advances to the next timer, or to the end of a pause, a delay or a lease.

import type { Server } from '../server.ts';
import type { Actor, State } from '../state.ts';
import { happens } from '../wording.ts';
import type { Leases } from './leases.ts';
import { type Move, type MovesOptions, NEVER, stepOf } from './move.ts';
import type { Processes } from './processes.ts';

export function createClock(server: Server, { masters }: MovesOptions, leases: Leases, { happen }: Processes) {
  /** The next moment at which something can happen, if any can. */
  function nextTime({ at, servers, ahead, actors }: State): number | undefined {
    let next = NEVER;
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
    return next === NEVER ? undefined : next;
  }

  function waitUntil(state: State, nextAt: number): Move {
    const endsAt = masters === 0 ? leases.lastEnd(state.servers[0] as number) : -1;
    const freeSince = Math.min(state.freeSince, endsAt >= 0 && endsAt < nextAt ? endsAt + 1 : NEVER);
    const next = { ...state, at: nextAt, freeSince };
    return { state: next, step: () => stepOf(next, 'the clock', 'clock', happens('clock goes on', { ms: nextAt })) };
  }

  /** The timer of a process that is due first fires. */
  function fire(state: State, index: number): Move[] {
    const { timers } = (state.actors[index] as Actor).history.seen;
    const due = timers.filter(({ due }) => due <= state.at).sort((a, b) => a.due - b.due)[0];
    if (due === undefined) return [];
    const timer = { at: state.at, type: 'timer' as const, id: due.id };
    return happen(state, index, timer, { kind: 'timer', what: happens('timer fires') });
  }

  return { nextTime, waitUntil, fire };
}
