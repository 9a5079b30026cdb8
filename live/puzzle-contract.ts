// What "you are the scheduler" shows and what it may be asked for: the one definition, for the server and for the page.

import { z } from 'zod';
import type { SaleStep } from '../prove/sale.ts';
import type { Budget, Demand } from '../prove/scopes.ts';

/** The scopes that are played. */
export type LevelScope =
  | 'plain'
  | 'crashed-holder'
  | 'nested-call'
  | 'slow-holder'
  | 'late-release'
  | 'long-sale'
  | 'paused-process'
  | 'late-write'
  | 'failover';

/** A level that can be opened: a stage in a scope of the search. */
export interface LevelChoice {
  /** `4-ttl/slow-holder`. */
  name: string;
  stage: string;
  scope: LevelScope;
  /** `Stage 4 · ttl`. */
  title: string;
  processes: number;
}

/** What counts as reached: what the scope demands is not so. Nobody may wait for ever in any. */
export type Counting = Demand | 'nobody waits for ever';

/** What happens, by its kind and its figures: the texts have the words. A command is named by its verb and its key, a script by its name. */
export type Happening =
  | { is: 'begins' | 'reply' | 'pause' | 'wake' | 'crash' | 'failover' }
  /** The command reaches Redis, or is held up, or reaches it after that. */
  | { is: 'command' | 'hold up' | 'let go'; command: string }
  | { is: 'timer'; sends: string | null }
  /** The clock goes on. What that brings, each with whose it is; null for a lock of which nobody knows whose it is. */
  | {
      is: 'clock';
      ms: number;
      leaseOf: (string | null)[];
      timersOf: string[];
      pausesOf: string[];
      commandsOf: string[];
    };

/** What a process has done. */
export interface Deed {
  step: SaleStep;
  stock?: number;
  /** Why it failed. */
  why?: string;
}

/** Something that can happen next. */
export interface MoveView {
  /** Its place among the moves of the search. It is the same each time that the game stands here. */
  index: number;
  /** `A`, `B`, …; `clock`, `Redis`. */
  who: string;
  happens: Happening;
  /** What `Math.random()` gives, where two moves differ in that alone. */
  chance?: number;
  /** The whole command, where the move is about one. */
  command?: string;
}

/** Something that has happened. */
export interface StepView extends Omit<MoveView, 'index'> {
  /** When, in milliseconds of the game's clock. */
  atMs: number;
  reply?: string;
  /** What the process did because of it. */
  came: Deed[];
}

export interface ProcessView {
  name: string;
  /** `to come`: it has not asked yet. `leaving`: it gives the lock up. `over`: its sale has ended. */
  is: 'to come' | 'waiting' | 'inside' | 'leaving' | 'over' | 'killed';
  /** `held up`: its command is; its timers go on. */
  away: 'paused' | 'held up' | null;
  /** Redis has the lock as its. */
  hasLock: boolean;
  /** What it has done, oldest first. */
  did: Deed[];
  /** The command of it that is on its way to Redis. */
  onItsWay: string | null;
  /** In how many milliseconds a timer of it is due. */
  timerInMs: number | null;
}

export interface RedisView {
  /** The lock; null when the key is not there. */
  lock: {
    /** The process that took it. */
    holder: string | null;
    value: string;
    /** What is left of the lease, in milliseconds; null without an end. */
    leftMs: number | null;
  } | null;
  leaseMs: number;
  /** Units in stock. */
  stock: number;
  /** The units at the beginning less those that were sold. */
  expected: number;
  /** Every other key. */
  others: { key: string; value: string }[];
}

/** How the game stands. `ended` and `out of time`: nothing more can happen, and nothing was broken. */
export type Standing =
  | { is: 'going' }
  /** The reason is the sentence of the search. */
  | { is: 'won'; reason: string }
  | { is: 'ended' }
  | { is: 'out of time'; atMs: number };

/** What the search says of the level. */
export type Knows =
  | { is: 'searching' }
  /** In so many steps at best. */
  | { is: 'can'; steps: number }
  /** No order of so many does it. */
  | { is: 'holds'; orders: string; states: number }
  | { is: 'unknown'; why: string };

/** What the last hint said, where it could not make a move. */
export type HintView =
  | { is: 'searching' }
  /** From here it can't be done: so many steps ago it could. */
  | { is: 'go back'; steps: number }
  | { is: 'impossible' }
  | { is: 'unknown'; why: string };

export interface GameView {
  level: LevelChoice;
  /** Everything that counts as reached. */
  counts: Counting[];
  /** How often each fault may still happen. */
  faultsLeft: Pick<Budget, 'pauses' | 'delays' | 'crashes' | 'failovers'>;
  /** How many steps were made. An order to move names it. */
  step: number;
  /** In milliseconds of the game's clock. */
  atMs: number;
  processes: ProcessView[];
  redis: RedisView;
  /** Those of A first, then of the others, of the clock and of Redis. None when the game is over. */
  moves: MoveView[];
  /** The last steps that were made, oldest first. */
  steps: StepView[];
  standing: Standing;
  knows: Knows;
  /** How many hints were asked for. */
  hints: number;
  hint: HintView | null;
}

export interface PuzzleView {
  levels: LevelChoice[];
  /** The level that is being opened. */
  opening: string | null;
  game: GameView | null;
  /** What went wrong last. */
  trouble: string | null;
}

/** A number of steps: an order that names another one than the game has is refused, so that a double click moves once. */
const step = z.int().min(0).max(9_999);

/** What a player may ask for. */
export const puzzleOrderSchema = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('open'), level: z.string().max(80) }),
  z.strictObject({ do: z.literal('move'), index: z.int().min(0).max(99), step }),
  /** Goes on while only one thing can happen. */
  z.strictObject({ do: z.literal('go on'), step }),
  /** Takes the last step back. */
  z.strictObject({ do: z.literal('undo') }),
  /** From the beginning. */
  z.strictObject({ do: z.literal('again') }),
  /** Makes the next step of the shortest way, or says that there is none from here. */
  z.strictObject({ do: z.literal('hint') }),
  z.strictObject({ do: z.literal('close') }),
]);
export type PuzzleOrder = z.output<typeof puzzleOrderSchema>;
