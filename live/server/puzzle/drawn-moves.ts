// The moves of the search as sentences for people, the same before a move is made and after it.

import { formatNumber, listOf } from '../../../loadtest/evidence/numbers.ts';
import type { Move } from '../../../prove/moves.ts';
import { LOCK_KEY } from '../../../prove/sale.ts';
import type { Server } from '../../../prove/server.ts';
import { nameOf, type State, type Step } from '../../../prove/state.ts';
import { readable, tell, verbOf } from '../../../prove/words.ts';
import type { Command, Pending } from '../../../prove/world.ts';
import type { MoveView, StepView } from '../../puzzle-contract.ts';

export type Worded = Omit<MoveView, 'index'>;

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
export function wordMoves(moves: Move[], before: Before): { worded: Worded; step: Step }[] {
  const told = moves.map((move) => {
    const step = move.step();
    return { step, worded: wordMove(step, move.state, before) };
  });
  const isTwice = ({ text }: Worded) => told.filter(({ worded }) => worded.text === text).length > 1;
  return told.map(({ step, worded }) => ({
    step,
    worded: isTwice(worded)
      ? { ...worded, text: `${worded.text}, and Math.random() is ${step.input?.chance}` }
      : worded,
  }));
}

function wordMove(step: Step, after: State, before: Before): Worded {
  const { process, kind, sent, command } = step;
  if (kind === 'clock') return { who: 'the clock', text: wordClock(step, before) };
  if (process === 'the server') return { who: 'Redis', text: `Redis ${command}` };
  const about = sent?.command ?? heldUp(step, before.state);
  return {
    who: process,
    text: wordProcess(step, about, newCommand(process, before.state, after)),
    ...(about && { command: readable(about) }),
  };
}

function wordProcess({ process, kind, command }: Step, about: Command | undefined, sends: Command | undefined): string {
  const what = about ? `${process}'s ${shortOf(about)}` : process;
  if (kind === 'command') return `${what} reaches Redis`;
  if (kind === 'let go') return `${what}, held up until now, reaches Redis`;
  if (kind === 'hold up') return `${what} is held up on its way`;
  if (kind === 'timer') return `A timer of ${process} fires${sends ? `: it sends ${shortOf(sends)}` : ''}`;
  return `${process} ${command}`;
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
function wordClock({ at: until }: Step, { state, holder, server }: Before): string {
  const { at, servers, actors } = state;
  const endsAt = server.ends(servers[0] as number).get(LOCK_KEY);
  const isOfLock = endsAt !== undefined && endsAt >= at && endsAt < until;
  const whose = holder === undefined ? 'of the lock' : `of ${nameOf(holder)}`;
  const due = actors.flatMap(({ status, nextTimer }, index) =>
    nextTimer === until && (status === 'runs' || status === 'is late') ? [`a timer of ${nameOf(index)} is due`] : [],
  );
  const overdue = actors.flatMap(({ status, until: end }, index) => {
    if (end !== until || (status !== 'is paused' && status !== 'is late')) return [];
    return [status === 'is paused' ? `the pause of ${nameOf(index)} ends` : `the command of ${nameOf(index)} goes on`];
  });
  const brings = [...(isOfLock ? [`the lease ${whose} ends`] : []), ...due, ...overdue];
  const passes = `${formatNumber(until - at)} ms pass`;
  return brings.length > 0 ? `${capital(listOf(brings))}: ${passes}` : passes;
}

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A move that was made. */
export function wordStep({ at, process, reply, told }: Step, worded: Worded): StepView {
  return {
    ...worded,
    atMs: at,
    ...(reply !== undefined && { reply }),
    ...(told.length > 0 && { came: `${process} ${told.map(tell).join(', ')}` }),
  };
}
