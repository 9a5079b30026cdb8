// What the keys of the presenter ask of the room, and what may be asked now.

import type { RoomOrder, RoomView } from '../room-contract.ts';

/** The keys of the presenter. An answer is predicted by its number. */
export const roomKeys = { ask: 'q', closeVotes: 'c', reveal: 'r', forget: 'x', bars: 'b' } as const;

/** The drill that the presenter has chosen. */
export interface ChosenCell {
  stage: string;
  drill: string;
}

/** The drills of the chosen stage that have a question. */
export function askableUnder({ askable }: RoomView, cell: ChosenCell | null): string[] {
  return askable[cell?.stage ?? ''] ?? [];
}

/** Whether its question may be asked. Asking once more would throw away the votes, so it is not offered until they were seen. */
export function isAskable(room: RoomView, cell: ChosenCell | null): cell is ChosenCell {
  if (cell === null || !askableUnder(room, cell).includes(cell.drill)) return false;
  const { question } = room;
  const isAsked = question?.stage === cell.stage && question.drill === cell.drill;
  return !isAsked || question.is === 'revealed';
}

/** What a key of the presenter asks for; an answer is predicted by its number. Null when it asks for nothing now. */
export function orderOfKey(key: string, room: RoomView, cell: ChosenCell | null): RoomOrder | null {
  const { question } = room;
  if (key === roomKeys.ask) return isAskable(room, cell) ? { do: 'ask', stage: cell.stage, drill: cell.drill } : null;
  if (question === null) return null;
  if (key === roomKeys.forget) return { do: 'forget' };
  if (key === roomKeys.reveal) return question.is === 'revealed' ? null : { do: 'reveal' };
  if (question.is !== 'open') return null;
  if (key === roomKeys.closeVotes) return { do: 'close-votes' };
  const answer = /^[1-9]$/.test(key) ? Number(key) - 1 : question.answers.length;
  return answer < question.answers.length ? { do: 'predict', answer } : null;
}

/** What works beside every tab: a question, its end and its answer. The rest stands on the tab Predict only. */
export function orderFromAnyTab(key: string, room: RoomView, cell: ChosenCell | null): RoomOrder | null {
  const { ask, closeVotes, reveal } = roomKeys;
  return [ask, closeVotes, reveal].some((known) => known === key) ? orderOfKey(key, room, cell) : null;
}
