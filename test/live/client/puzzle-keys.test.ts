import { expect, test } from 'vitest';
import { orderOfKey } from '../../../live/client/puzzle-keys.ts';

const moves = [4, 0, 2].map((index) => ({ index, who: 'A', happens: { is: 'begins' as const } }));
const going = { step: 3, moves, standing: { is: 'going' } as const };

test('puzzle keys: a digit chooses by the place on the board, and names the step', () => {
  expect(orderOfKey('1', going)).toEqual({ do: 'move', index: 4, step: 3 });
  expect(orderOfKey('3', going)).toEqual({ do: 'move', index: 2, step: 3 });
  expect(orderOfKey('4', going)).toBeUndefined();
  expect(orderOfKey('0', going)).toBeUndefined();
});

test('puzzle keys: undo, hint and go on, where they mean something', () => {
  expect(orderOfKey('u', going)).toEqual({ do: 'undo' });
  expect(orderOfKey('u', { ...going, step: 0 })).toBeUndefined();
  expect(orderOfKey('h', going)).toEqual({ do: 'hint' });
  expect(orderOfKey('h', { ...going, moves: [], standing: { is: 'won', reason: '' } })).toBeUndefined();
  expect(orderOfKey('g', going)).toBeUndefined();
  expect(orderOfKey('g', { ...going, moves: moves.slice(0, 1) })).toEqual({ do: 'go on', step: 3 });
  expect(orderOfKey('x', going)).toBeUndefined();
});
