// What the page says around a prediction.

import type { QuestionState } from './room-contract.ts';

/** The keys of the presenter. An answer is predicted by its number. */
export const roomKeys = { ask: 'q', closeVotes: 'c', reveal: 'r', forget: 'x', bars: 'b' } as const;

/** What is going on, in a word for the presenter. */
export const stateTexts: Record<QuestionState, string> = {
  open: 'Votes are open.',
  closed: 'Votes are closed.',
  revealed: 'This is the answer.',
};

export const roomTexts = {
  heading: 'Predict',
  ask: 'Ask the question',
  closeVotes: 'Close the votes',
  reveal: 'Show the answer',
  forget: 'Take the question away',
  hideBars: 'Hide the bars',
  showBars: 'Show the bars',
  followAt: 'Follow and vote:',
  notShared: 'Shared with nobody: npm run live -- --share lets a room vote.',
  right: 'right',
  prediction: 'predicted here',
  predictAlone: 'What will happen? Say it before you play it.',
  followerWaits: 'The next question appears here.',
  chooseOne: 'What will happen? You may change your mind until the votes are closed.',
  chosen: 'you said this',
  saidNothing: 'You did not vote.',
  wasRight: 'You were right.',
  wasWrong: 'You said something else.',
  otherwise: 'This time the drill came out otherwise than the course says.',
  notPlayedYet: 'The drill has not been played to its end yet.',
  voteFailed: 'Your vote did not arrive. Try again.',
};

const people = (count: number, word: string, words: string) => `${count} ${count === 1 ? word : words}`;

export const nothingToAskText = (drills: string[]) =>
  drills.length === 0
    ? 'There is no question about this stage.'
    : `There is no question about this drill. Under this stage ask about ${drills.join(', ')}.`;
export const followText = (followers: number) => `${people(followers, 'phone follows', 'phones follow')}.`;
export const votedText = (voted: number, followers: number) =>
  // Of those that voted some have left.
  `${voted} of ${Math.max(voted, followers)} have voted.`;
export const votesText = (votes: number) => people(votes, 'vote', 'votes');
export const answerLabel = (place: number, votes: number, voted: number) =>
  `Answer ${place + 1}: ${votes} of ${people(voted, 'vote', 'votes')}`;
export const predictLabel = (place: number) => `Predict answer ${place + 1}`;
export const happenedText = (verdict: string, sentence: string) => {
  const signs: Record<string, string> = { pass: '✔ The lock held.', fail: '✘ The lock failed.' };
  return `${signs[verdict] ?? '? It could not be told.'} ${sentence}`;
};
