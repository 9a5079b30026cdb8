import { afterEach, expect, test } from 'vitest';
import { FiguresPanel } from '../../../live/client/figures.ts';
import { nothingShown } from '../../../live/client/state.ts';
import { shown } from '../../../live/client/store.ts';
import type { Play } from '../../../live/contract.ts';

afterEach(() => {
  shown.value = nothingShown;
});

/** The names of the figures, in their order. */
function namesIn(is: Play['is']): string[] {
  shown.value = { ...nothingShown, play: { is, trouble: null } };
  const figures = { sold: 90, refused: 4, inDoubt: 3, underWay: 2, lost: 1, noAnswer: 100 };
  const drawn = JSON.stringify(FiguresPanel({ figures }));
  return [...drawn.matchAll(/"type":"dt","props":\{"children":"([^"]+)"/g)].map(([, name = '']) => name);
}

test('the figures of a rush have one order from the beginning to the end, and count the buyers who got no answer', () => {
  expect(namesIn('playing')).toEqual(['sold', 'lost so far', 'refused', 'in doubt', 'no answer']);
  expect(namesIn('ready')).toEqual(['sold', 'lost', 'refused', 'in doubt', 'no answer']);
});
