// One game: a level, and the moves that were made in it. The rules are those of the search.

import { HORIZON_MS } from '../../../prove/cell.ts';
import { createMoves, type Move, type MovesOptions } from '../../../prove/moves.ts';
import { violated, violatedAtEnd } from '../../../prove/properties.ts';
import { type OpenLock, readLock } from '../../../prove/sandbox.ts';
import { scopes } from '../../../prove/scopes.ts';
import { openServer, type Server } from '../../../prove/server.ts';
import { nameOf, type State, type Step } from '../../../prove/state.ts';
import type { GameView, MoveView, Standing, StepView } from '../../puzzle-contract.ts';
import { type Drawn, drawMoves, drawStep } from './drawn-moves.ts';
import type { LevelTask } from './levels.ts';
import { holderAfter, seeProcesses, seeRedis } from './seen.ts';

/** So many steps are shown. */
const SHOWN_STEPS = 60;

/** What a game says of itself. */
export interface Board
  extends Pick<GameView, 'faultsLeft' | 'step' | 'atMs' | 'processes' | 'redis' | 'moves' | 'steps' | 'standing'> {
  /** The moves that were made, each by its place among those that could be made. */
  way: number[];
  /** The names of the steps that were made. */
  names: string[];
}

/** A lock in a scope, ready to be played or searched. */
export interface Ground {
  openLock: OpenLock;
  server: Server;
  options: MovesOptions;
}

/** Rejects when the lock can't be read, or there is no such scope. */
export async function openGround({ file, scope: name, processes }: LevelTask): Promise<Ground> {
  const scope = scopes.find((each) => each.name === name);
  if (scope === undefined) throw new Error(`There is no scope ${name}.`);
  const [openLock, server] = await Promise.all([readLock(file), openServer()]);
  const horizonMs = scope.horizonMs ?? HORIZON_MS;
  return { openLock, server, options: { scope, processes, sales: 1, masters: 0, horizonMs } };
}

/** A step as one text, by which a step of the search is found among the moves of a game. */
export function nameOfStep({ at, process, kind, command, reply = '' }: Step): string {
  return [at, process, kind, command, reply].join('|');
}

/** A state, and how it was reached. */
interface Place {
  state: State;
  /** The process that took the lock, by its number. */
  holder: number | undefined;
  standing: Standing;
  /** What can happen next, in the order of the search. */
  moves: { move: Move; step: Step; drawn: Drawn }[];
  /** The step that led here; none at the beginning. */
  last?: { index: number; step: Step; view: StepView };
}

export type Game = Awaited<ReturnType<typeof openGame>>;

export async function openGame({ openLock, server, options }: Ground) {
  const { scope, sales, horizonMs } = options;
  const { begin, movesFrom, leaseEndOf } = createMoves({ openLock, sales }, server, options);
  const places: Place[] = [await placeOf(begin(), undefined, undefined)];

  async function placeOf(state: State, holder: number | undefined, broken: string | undefined): Promise<Place> {
    if (broken !== undefined) return { state, holder, standing: { is: 'won', reason: broken }, moves: [] };
    const { moves, isCut } = await movesFrom(state);
    const drawn = drawMoves(moves, { state, holder, server });
    return {
      state,
      holder,
      standing: moves.length > 0 ? { is: 'going' } : standingAtEnd(state, isCut),
      moves: moves.map((move, index) => ({ move, ...(drawn[index] as (typeof drawn)[number]) })),
    };
  }

  function standingAtEnd(state: State, isCut: boolean): Standing {
    if (isCut) return { is: 'out of time', atMs: horizonMs };
    const reason = violatedAtEnd(state, scope, server);
    return reason ? { is: 'won', reason } : { is: 'ended' };
  }

  const here = () => places.at(-1) as Place;

  async function make(index: number) {
    const { state, holder, moves } = here();
    const chosen = moves[index];
    if (chosen === undefined) throw new Error(`There is no move ${index} among ${moves.length}.`);
    const { move, step, drawn } = chosen;
    const broken = violated(move.state, scope, { leaseEndOf, server }, move.touches);
    const sender = step.sent ? state.actors.findIndex((_, number) => nameOf(number) === step.process) : -1;
    const holds = holderAfter(state, move.state, holder, sender, server);
    const next = await placeOf(move.state, holds, broken);
    places.push({ ...next, last: { index, step, view: drawStep(step, drawn) } });
  }

  return {
    /** What there is to see. */
    board(): Board {
      const { state, holder, moves, standing } = here();
      const { pauses, delays, crashes, failovers } = state.budget;
      const made = places.flatMap(({ last }) => (last ? [last] : []));
      return {
        faultsLeft: { pauses, delays, crashes, failovers },
        step: made.length,
        atMs: state.at,
        processes: seeProcesses(state, holder),
        redis: seeRedis(state, holder, server),
        moves: inGroups(moves.map(({ drawn }, index) => ({ index, ...drawn }))),
        steps: made.slice(-SHOWN_STEPS).map(({ view }) => view),
        standing,
        way: made.map(({ index }) => index),
        names: made.map(({ step }) => nameOfStep(step)),
      };
    },
    /** Makes the move at this place. Rejects when there is none. */
    make,
    /** Makes the move that is this step of the search. Rejects when there is none. */
    makeNamed: (name: string) => make(here().moves.findIndex(({ step }) => nameOfStep(step) === name)),
    /** Makes moves for as long as there is one alone. */
    async goOn() {
      while (here().moves.length === 1) await make(0);
    },
    /** Takes so many steps back, or all that there are. */
    back(steps: number) {
      places.length = Math.max(1, places.length - steps);
    },
    /** What was done, as the search tells it. */
    steps: (): Step[] => places.flatMap(({ last }) => (last ? [last.step] : [])),
  };
}

/** Those of a process together, in the order of the names; those of the clock and of Redis last. */
function inGroups(moves: MoveView[]): MoveView[] {
  const rank = ({ who }: MoveView) => (who.length === 1 ? who.charCodeAt(0) : who === 'clock' ? 1_000 : 1_001);
  return moves.toSorted((one, other) => rank(one) - rank(other));
}
