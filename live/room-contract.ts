// What the page shows of a prediction, and what the presenter and the room may ask for: one definition, for server and page.

import { z } from 'zod';
import type { Verdict } from '../loadtest/evidence/results.ts';

/** Who may vote at the same time. */
export const MOST_FOLLOWERS = 250;

export interface AnswerView {
  text: string;
  /** How many have chosen it. Null as long as this page may not know: it must not follow the crowd. */
  votes: number | null;
  /** Null until it is revealed. */
  isRight: boolean | null;
  /** Why it is not so. Null until it is revealed, and for the right one. */
  because: string | null;
}

/** What is known when the answer is revealed. */
export interface Outcome {
  /** How the staircase says that the drill comes out. */
  expected: 'pass' | 'fail';
  /** Why the right answer is right. */
  explains: string;
  /** How the drill came out just now. Null until it has been played to its end. */
  happened: { verdict: Verdict; sentence: string } | null;
}

/** `open`: votes are taken. `closed`: no more, and everybody sees them. `revealed`: everybody sees which answer is right, too. */
export type QuestionState = 'open' | 'closed' | 'revealed';

export interface QuestionView {
  /** Counts the questions that were asked. A vote names it, so that none counts for the next question. */
  number: number;
  stage: string;
  drill: string;
  text: string;
  is: QuestionState;
  answers: AnswerView[];
  /** How many have voted. */
  voted: number;
  /** The place of the answer that the presenter predicts. Null for followers as long as votes are taken. */
  prediction: number | null;
  outcome: Outcome | null;
}

export interface RoomView {
  /** The question that is asked. */
  question: QuestionView | null;
  /** How many follow. */
  followers: number;
  /** Where a room follows. Null when the page is not shared, and for followers. */
  address: string | null;
  /** The drills that have a question, by their stages. Empty for followers. */
  askable: Record<string, string[]>;
}

const place = z.int().min(0).max(3);

/** What a presenter may ask for, beside what is played. */
export const roomOrderSchema = z.discriminatedUnion('do', [
  /** Asks the question of a drill; votes are taken from then on. It takes the place of the one before. */
  z.strictObject({ do: z.literal('ask'), stage: z.string().max(60), drill: z.string().max(60) }),
  /** The prediction of the presenter: the place of an answer. */
  z.strictObject({ do: z.literal('predict'), answer: place }),
  z.strictObject({ do: z.literal('close-votes') }),
  /** Says which answer is right. It closes the votes, if they are open. */
  z.strictObject({ do: z.literal('reveal') }),
  /** Takes the question away. */
  z.strictObject({ do: z.literal('forget') }),
]);
export type RoomOrder = z.output<typeof roomOrderSchema>;

/** All that a follower may ask for. `question` is the number of the question, `answer` the place of the answer. */
export const voteSchema = z.strictObject({ question: z.int().min(1), answer: place });
export type Vote = z.output<typeof voteSchema>;
