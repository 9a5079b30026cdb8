// A thread that plays a game or searches its level, as it is asked: one question after the other.

import { parentPort } from 'node:worker_threads';
import { search } from '../../../prove/search.ts';
import { type Board, type Game, type Ground, nameOfStep, openGame, openGround } from './game.ts';
import type { LevelTask } from './levels.ts';

/** What a search in this thread may use, in bytes. */
const MOST_MEMORY = 600_000_000;

/** What it may be asked, and with what it answers. */
export interface Calls {
  /** Comes first. */
  open(task: LevelTask): Promise<void>;
  begin(): Promise<Board>;
  make(index: number): Promise<Board>;
  makeNamed(name: string): Promise<Board>;
  goOn(): Promise<Board>;
  back(steps: number): Promise<Board>;
  /** The shortest way to break it after these moves, in so many seconds. */
  search(after: number[], seconds: number): Promise<Found>;
}

export interface Found {
  verdict: 'holds' | 'fails' | 'unknown';
  reason: string;
  states: number;
  schedules: number;
  /** The names of the steps of the shortest way. */
  names: string[];
}

export interface Question {
  id: number;
  call: keyof Calls;
  args: unknown[];
}

export type Answer = { id: number; value: unknown } | { id: number; problem: string };

let ground: Ground | undefined;
let game: Game | undefined;

function opened<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error('No level is open in this thread.');
  return thing;
}

async function played(play: (game: Game) => unknown): Promise<Board> {
  const open = opened(game);
  await play(open);
  return open.board();
}

const calls: Calls = {
  async open(task) {
    ground = await openGround(task);
  },
  async begin() {
    game = await openGame(opened(ground));
    return game.board();
  },
  make: (index) => played((open) => open.make(index)),
  makeNamed: (name) => played((open) => open.makeNamed(name)),
  goOn: () => played((open) => open.goOn()),
  back: (steps) => played((open) => open.back(steps)),
  async search(after, seconds) {
    const { openLock, server, options } = opened(ground);
    const signal = AbortSignal.timeout(seconds * 1_000);
    const found = await search(openLock, server, { ...options, mostMemory: MOST_MEMORY, after, signal });
    const { verdict, reason, states, schedules, counterexample = [] } = found;
    return { verdict, reason, states, schedules, names: counterexample.map(nameOfStep) };
  },
};

let turn = Promise.resolve();

parentPort?.on('message', ({ id, call, args }: Question) => {
  turn = turn
    .then(() => (calls[call] as (...args: unknown[]) => Promise<unknown>)(...args))
    .then(
      (value): Answer => ({ id, value }),
      (error: Error): Answer => ({ id, problem: error.message }),
    )
    .then((answer) => parentPort?.postMessage(answer));
});
