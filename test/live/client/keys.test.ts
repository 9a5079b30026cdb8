import { describe, expect, test } from 'vitest';
import { isAskable, orderOfKey } from '../../../live/client/room-keys.ts';
import type { QuestionState, QuestionView, RoomView } from '../../../live/room-contract.ts';

describe('keys of the room', () => {
  const cell = { stage: '4-ttl', drill: 'slow-holder' };
  const other = { stage: '4-ttl', drill: 'crashed-holder' };
  const answer = { text: 'Nothing happens.', votes: 0, isRight: null, because: null };
  const room = (is?: QuestionState): RoomView => {
    const shown = { number: 1, ...cell, text: 'What happens?', answers: [answer, answer, answer], voted: 0 };
    const question: QuestionView | null = is === undefined ? null : { ...shown, is, prediction: null, outcome: null };
    return { question, followers: 0, address: null, askable: { '4-ttl': ['crashed-holder', 'slow-holder'] } };
  };

  test.each([
    ['nothing is asked', undefined, ['q']],
    ['votes are taken', 'open', ['c', 'r', 'x', '1', '2', '3']],
    ['votes are closed', 'closed', ['r', 'x']],
    ['the answer is shown', 'revealed', ['q', 'x']],
  ] as const)('%s: each key that asks for something', (_when, is, keys) => {
    const all = ['q', 'c', 'r', 'x', 'b', '0', '1', '2', '3', '4', ' ', '1.5', '-1'];

    expect(all.filter((key) => orderOfKey(key, room(is), cell) !== null)).toEqual(keys);
    expect(orderOfKey('3', room('open'), cell)).toEqual({ do: 'predict', answer: 2 });
  });

  test('what is asked cannot be asked again before its answer was shown: its votes would be lost', () => {
    expect([isAskable(room('open'), cell), isAskable(room('open'), other)]).toEqual([false, true]);
    expect(isAskable(room('revealed'), cell)).toBe(true);
    for (const none of [{ ...cell, drill: 'rush' }, { ...cell, stage: 'fenced' }, null])
      expect(isAskable(room(), none)).toBe(false);
  });
});
