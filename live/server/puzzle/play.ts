// One level as it is played: a thread for the game, and one for the search, so that neither keeps the page waiting.

import { formatOrders } from '../../../loadtest/evidence/numbers.ts';
import type { GameView, HintView, Knows, PuzzleOrder } from '../../puzzle-contract.ts';
import { Refusal } from '../refusal.ts';
import { startThread, type Thread } from './ask.ts';
import type { Board } from './game.ts';
import { createHints } from './hints.ts';
import type { Level, LevelTask } from './levels.ts';
import type { Found } from './thread.ts';

/** How long the search may take for what it knows of the level, and for a hint, in seconds. */
const SECONDS = 30;

/** What can be asked of an open level. */
export type PlayOrder = Exclude<PuzzleOrder, { do: 'open' | 'close' }>;

export interface OpenPuzzle {
  read(): GameView;
  /** Carries out an order. Throws Refusal when it does not fit the game as it stands. */
  order(order: PlayOrder): void;
  /** Resolves when no order is being carried out. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface PuzzleParts {
  /** Called when something is to be seen anew. */
  onChange: () => void;
  /** Called with what went wrong. The game is over. */
  onTrouble: (error: Error) => void;
}

/** Opens a level. Rejects when its lock can't be read. */
export async function openPuzzle(level: Level, { onChange, onTrouble }: PuzzleParts): Promise<OpenPuzzle> {
  const { file, scope, processes, choice, counts } = level;
  const task = { file, scope, processes };
  const [player, searcher] = await startBoth(task);
  let board = await player.ask('begin');
  let knows: Knows = { is: 'searching' };
  let hints = 0;
  let hint: HintView | null = null;
  let isMoving = false;
  let isClosed = false;
  let work: Promise<unknown> = Promise.resolve();
  const advisor = createHints((after) => searcher.ask('search', after, SECONDS));

  /** Something is under way. What goes wrong after the end goes wrong for nobody. */
  function start(task: Promise<unknown>) {
    const caught = task.catch((error: Error) => {
      if (!isClosed) onTrouble(error);
    });
    work = Promise.all([work, caught]);
  }

  /** The game changes. */
  async function change(made: (thread: Thread) => Promise<Board>) {
    isMoving = true;
    hint = null;
    try {
      board = await made(player);
    } finally {
      isMoving = false;
    }
    onChange();
  }

  async function askForHint() {
    const { way, names, step } = board;
    hints += 1;
    hint = { is: 'searching' };
    onChange();
    const mine = hint;
    const advice = await advisor.advise({ way, names });
    // The player has gone on meanwhile.
    if (hint !== mine || board.step !== step || isMoving) return;
    if ('next' in advice) return change((thread) => thread.ask('makeNamed', advice.next));
    hint = advice;
    onChange();
  }

  async function learn() {
    knows = knowing(await advisor.know());
    onChange();
  }

  function mustBeAt(step: number) {
    if (step !== board.step) throw new Refusal(409, 'STEP_IS_OVER', 'The game has gone on: choose again.');
  }

  function carryOut(order: PlayOrder) {
    if (isMoving) throw new Refusal(409, 'BUSY', 'A move is being made.');
    switch (order.do) {
      case 'move': {
        mustBeAt(order.step);
        const { index } = order;
        if (!board.moves.some((move) => move.index === index)) {
          throw new Refusal(400, 'NO_SUCH_MOVE', `There is no move ${index} now.`);
        }
        return start(change((thread) => thread.ask('make', index)));
      }
      case 'go on':
        mustBeAt(order.step);
        return start(change((thread) => thread.ask('goOn')));
      case 'undo':
        return start(change((thread) => thread.ask('back', 1)));
      case 'again':
        hints = 0;
        return start(change((thread) => thread.ask('back', board.step)));
      case 'hint':
        if (board.standing.is === 'won') throw new Refusal(409, 'GAME_IS_OVER', 'The game is won.');
        // One that is being looked for is answered.
        if (hint?.is !== 'searching') start(askForHint());
    }
  }

  start(learn());
  return {
    read(): GameView {
      const { way: _way, names: _names, ...shown } = board;
      return { level: choice, counts, ...shown, knows, hints, hint };
    },
    order: carryOut,
    async settled() {
      for (let seen: unknown; seen !== work; ) {
        seen = work;
        await seen;
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([player.end(), searcher.end()]);
    },
  };
}

/** Two threads with this level, or none when one does not start. */
async function startBoth(task: LevelTask): Promise<[Thread, Thread]> {
  const started = await Promise.allSettled([startThread(task), startThread(task)]);
  const [one, other] = started;
  if (one.status === 'fulfilled' && other.status === 'fulfilled') return [one.value, other.value];
  for (const each of started) if (each.status === 'fulfilled') await each.value.end();
  throw started.find((each) => each.status === 'rejected')?.reason;
}

function knowing({ verdict, reason, states, schedules, names }: Found): Knows {
  if (verdict === 'fails') return { is: 'can', steps: names.length };
  if (verdict === 'holds') return { is: 'holds', orders: formatOrders(schedules), states };
  return { is: 'unknown', why: reason };
}
