// What the keys of "you are the scheduler" ask for.

import type { GameView, PuzzleOrder } from '../puzzle-contract.ts';

type Known = Pick<GameView, 'step' | 'moves' | 'standing'>;

/** `1` to `9` choose what happens next, `g` goes on, `u` takes a step back, `h` asks for a hint. Undefined when it asks for nothing now. */
export function orderOfKey(key: string, { step, moves, standing }: Known): PuzzleOrder | undefined {
  const move = /^[1-9]$/.test(key) ? moves[Number(key) - 1] : undefined;
  if (move) return { do: 'move', index: move.index, step };
  if (key === 'g' && moves.length === 1) return { do: 'go on', step };
  if (key === 'u' && step > 0) return { do: 'undo' };
  return key === 'h' && standing.is !== 'won' ? { do: 'hint' } : undefined;
}
