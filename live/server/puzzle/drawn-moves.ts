// The moves of the search as they are shown: by their kinds and figures, the same before a move is made and after it.

import type { Move } from '../../../prove/moves.ts';
import { LOCK_KEY } from '../../../prove/sale.ts';
import type { Server } from '../../../prove/server.ts';
import { nameOf, type State, type Step } from '../../../prove/state.ts';
import { readable } from '../../../prove/words.ts';
import { verbOf } from '../../../virtual/scripts.ts';
import type { Command, Pending } from '../../../virtual/world.ts';
import type { Happening, MoveView, StepView } from '../../puzzle-contract.ts';
import { deedOf } from './seen.ts';

export type Drawn = Omit<MoveView, 'index'>;

/** Where a move is made. */
export interface Before {
  state: State;
  /** The process that took the lock, by its number. */
  holder: number | undefined;
  server: Server;
}

/** A command by its name and its key; a script by its name alone. */
function shortOf(command: Command): string {
  const [name, key] = command;
  return /^EVAL/.test(String(name)) ? verbOf(command) : `${name} ${key}`;
}

/** All moves from a state, in their order. Two that differ in their luck alone say which. */
export function drawMoves(moves: Move[], before: Before): { drawn: Drawn; step: Step }[] {
  const all = moves.map((move) => {
    const step = move.step();
    const drawn = drawMove(step, move.state, before);
    return { step, drawn, sight: JSON.stringify([drawn.who, drawn.happens]) };
  });
  const isTwice = (sight: string) => all.filter((other) => other.sight === sight).length > 1;
  return all.map(({ step, drawn, sight }) => {
    const chance = step.input?.chance;
    return { step, drawn: isTwice(sight) && chance !== undefined ? { ...drawn, chance } : drawn };
  });
}

function drawMove(step: Step, after: State, before: Before): Drawn {
  const { process, kind, sent } = step;
  if (kind === 'clock') return { who: 'clock', happens: drawClock(step, before) };
  if (process === 'the server') return { who: 'Redis', happens: drawProcess(step, undefined, undefined) };
  const about = sent?.command ?? heldUp(step, before.state);
  return {
    who: process,
    happens: drawProcess(step, about, newCommand(process, before.state, after)),
    ...(about && { command: readable(about) }),
  };
}

function drawProcess({ kind }: Step, about: Command | undefined, sends: Command | undefined): Happening {
  switch (kind) {
    case 'command':
    case 'hold up':
    case 'let go':
      return { is: kind, command: about ? shortOf(about) : '' };
    case 'timer':
      return { is: kind, sends: sends ? shortOf(sends) : null };
    case 'begins':
    case 'reply':
    case 'pause':
    case 'wake':
    case 'crash':
    case 'failover':
      return { is: kind };
    default:
      throw new Error(`No level has a step of the kind ${kind}.`);
  }
}

const numberOf = (process: string) => process.charCodeAt(0) - nameOf(0).charCodeAt(0);
/** The commands of a process that have not reached Redis, oldest first. */
const sentBy = (process: string, { actors }: State): Pending[] => actors[numberOf(process)]?.history.seen.pending ?? [];

/** The command that is held up by a step. */
function heldUp({ kind, process }: Step, state: State): Command | undefined {
  return kind === 'hold up' ? sentBy(process, state)[0]?.command : undefined;
}

/** The first command that a process has sent because of a move. */
function newCommand(process: string, before: State, after: State): Command | undefined {
  const known = sentBy(process, before).map(({ id }) => id);
  return sentBy(process, after).find(({ id }) => !known.includes(id))?.command;
}

/** How long the clock goes on, and what that brings. */
function drawClock({ at: until }: Step, { state, holder, server }: Before): Happening {
  const { at, servers, actors } = state;
  const endsAt = server.ends(servers[0] as number).get(LOCK_KEY);
  const isOfLock = endsAt !== undefined && endsAt >= at && endsAt < until;
  const named = (is: (actor: State['actors'][number]) => boolean) =>
    actors.flatMap((actor, index) => (is(actor) ? [nameOf(index)] : []));
  return {
    is: 'clock',
    ms: until - at,
    leaseOf: isOfLock ? [holder === undefined ? null : nameOf(holder)] : [],
    timersOf: named(({ status, nextTimer }) => nextTimer === until && (status === 'runs' || status === 'is late')),
    pausesOf: named(({ status, until: end }) => end === until && status === 'is paused'),
    commandsOf: named(({ status, until: end }) => end === until && status === 'is late'),
  };
}

/** A move that was made. */
export function drawStep({ at, reply, told }: Step, drawn: Drawn): StepView {
  return { ...drawn, atMs: at, ...(reply !== undefined && { reply }), came: told.map(deedOf) };
}
