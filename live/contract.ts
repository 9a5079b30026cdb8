// What the live page shows and what it may ask for: the one definition, for its server and for the page.

import { z } from 'zod';
import type { Timeline, Verdict } from '../loadtest/evidence/results.ts';
import type { PuzzleView } from './puzzle-contract.ts';
import type { RoomView } from './room-contract.ts';
import type { WorkshopView } from './workshop-contract.ts';

/** A part of the stack, and how it is: `stopped` stands still, `dead` has no process, `cut` is reached by nobody. */
export interface Part {
  name: string;
  kind: 'nginx' | 'node' | 'redis' | 'replica' | 'master' | 'zookeeper' | 'mysql';
  is: 'up' | 'stopped' | 'dead' | 'cut';
}

/** A line from a node to a server, by their names. */
export interface Line {
  from: string;
  to: string;
  is: 'open' | 'cut' | 'slow';
  /** The command that is held on its way, by its name: `DEL`, `release-if-owner`. */
  held?: string;
}

export interface NodeView {
  name: string;
  /** How many sales wait for the lock. */
  waiting: number;
  /** The sales that are inside, by their ids. */
  inside: string[];
}

/** The lock as Redis has it, or most masters. Where it is elsewhere, that of the sale that was let in last and has not left. */
export interface LockView {
  /** Whose it is: `sale 1001 on node-1`, or the value of the key where that names no sale. */
  holder: string;
  node?: string;
  /** How long it has to live, in milliseconds, when it was last seen. Absent without an end. */
  leftMs?: number;
  leaseMs: number;
  /** What the holder shows the stock, where its lock has such tokens. */
  fencingToken?: string;
}

export interface StockView {
  /** Units in stock, as the store says. */
  actual: number;
  /** What it should be: the units at the beginning less those that were sold. */
  expected: number;
}

/** The sales so far. */
export interface Figures {
  sold: number;
  refused: number;
  inDoubt: number;
  /** Sales that may have written, and have not ended. Those that wait for the lock are none of them. */
  underWay: number;
  /**
   * Sales that are lost whatever becomes of those in doubt and under way: units that were sold and are still in stock, or writes that
   * another sale undid, the larger of the two. Measured while sales are under way, so it may go back.
   */
  lost: number;
  /** Buyers of a rush who got no answer, from a dead node for instance. No node may know of their sales. */
  noAnswer: number;
}

export interface Sentence {
  /** Milliseconds since the drill began. */
  atMs: number;
  text: string;
  /** The page may wait here for the presenter. */
  isStep: boolean;
  /** Until when it did: null while it does. Absent where it did not wait. */
  waitedUntilMs?: number | null;
}

export interface VerdictView {
  verdict: Verdict;
  /** What the staircase says; null where it leaves the cell blank. */
  taught: 'pass' | 'fail' | null;
  reasons: string[];
  witnesses: string[];
}

/** Everything that is seen of one stack. Two stand side by side at the most. */
export interface StackView {
  stage: string;
  title: string;
  /** The drill that is played, or was played last; null in free play. */
  drill: string | null;
  parts: Part[];
  lines: Line[];
  nodes: NodeView[];
  /** Sales take a lock that is in a server: without one there is none to be drawn. */
  hasLock: boolean;
  /** Each node has a lock of its own, and the sale that is inside has it. */
  hasNodeLocks?: boolean;
  lock: LockView | null;
  stock: StockView | null;
  figures: Figures | null;
  story: Sentence[];
  timeline: Timeline | null;
  verdict: VerdictView | null;
}

export interface StageChoice {
  name: string;
  title: string;
  /** The problem that it solves and what it leaves, as its file says. */
  problem: string;
  change: string;
  leaves: string;
  /** The row before it, if there is one. */
  before?: string;
  code: string;
  /** Its lines against those of the row before: `+`, `-` or a blank first. */
  diff?: string[];
  /** The drills that can be played under it, each with what the staircase says. */
  drills: { name: string; asks: string; taught: 'pass' | 'fail' | null; kind: 'load' | 'steps' }[];
}

/** What goes on. */
export interface Play {
  /** `ready`: something may be started. `starting`: servers are. `waiting`: the next step waits. `free`: free play. */
  is: 'starting' | 'ready' | 'playing' | 'waiting' | 'free' | 'stopping' | 'over';
  /** Why nothing more can be done, or what went wrong last. */
  trouble: string | null;
}

/** What can be done to a stack in free play: to it all, or to the part `at`. */
export const acts = [
  'sell',
  'rush',
  'hold-sale',
  'hold-release',
  'hold-write',
  'kill',
  'stop',
  'cut',
  'block',
  'cut-replica',
  'fail-over',
  'empty',
] as const;
export type Act = (typeof acts)[number];

/** A button of free play. */
export interface Control {
  act: Act;
  /** The part that it is done to: `node-1`, `redis`, `master-2`. Absent for the whole stack. */
  at?: string;
  /** It is done now, and doing it again undoes it. */
  isOn: boolean;
  /** Why it would do nothing here, as a sentence. */
  whyNot?: string;
}

/** All that the page shows. */
export interface LiveState {
  play: Play;
  /** The buttons of free play; null while a drill is played. */
  controls: Control[] | null;
  views: StackView[];
  /** What is predicted. Absent where nothing is asked. */
  room?: RoomView;
  /** "You are the scheduler". Absent where it can't be played. */
  puzzle?: PuzzleView;
  /** The workshop that runs on this machine; null or absent when there is none. */
  workshop?: WorkshopView | null;
}

/**
 * What the stream sends: everything first, then the members that have changed, each whole. A follower is sent its id before:
 * it votes by it, and shows it when it comes again.
 */
export type Message =
  | { type: 'follower'; id: string }
  | { type: 'all'; choices: StageChoice[]; state: LiveState }
  | {
      type: 'changed';
      play?: Play;
      controls?: Control[] | null;
      views?: (Partial<StackView> | null)[];
      room?: RoomView;
      puzzle?: PuzzleView;
      workshop?: WorkshopView | null;
    };

/** What the page has shown of a run: how it began, and what changed when, in milliseconds since the drill began. */
export interface SavedRun {
  /** When it was played, as ISO 8601. */
  playedAt: string;
  choices: StageChoice[];
  start: LiveState;
  changes: { atMs: number; message: Extract<Message, { type: 'changed' }> }[];
  /** It was too long: the end is missing. */
  isCut: boolean;
}

const stage = z.string().max(60);
const drill = z.string().max(60);

/** What a presenter may ask for. */
export const orderSchema = z.discriminatedUnion('do', [
  /** Plays a drill; `against` is another stage, side by side. */
  z.strictObject({ do: z.literal('play'), stage, drill, isStepwise: z.boolean(), against: stage.optional() }),
  /** Goes on from the step that waits. */
  z.strictObject({ do: z.literal('next') }),
  /** From here on as it happens, without a stop. */
  z.strictObject({ do: z.literal('run-on') }),
  /** Ends the drill, or free play, and puts the stack back. */
  z.strictObject({ do: z.literal('stop') }),
  /** Begins free play under a stage. */
  z.strictObject({ do: z.literal('free'), stage }),
  /** Presses a button of free play; `count` is how many sales of a rush. */
  z.strictObject({
    do: z.literal('act'),
    act: z.enum(acts),
    at: z.string().max(20).optional(),
    count: z.int().min(1).max(10_000).optional(),
  }),
  /** Undoes all that free play has broken. */
  z.strictObject({ do: z.literal('undo') }),
]);
export type Order = z.output<typeof orderSchema>;
