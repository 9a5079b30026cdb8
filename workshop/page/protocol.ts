// What the live page shows and what it may ask for: the one definition, for its server and for the page.

import { z } from 'zod';
import type { PlayEvent } from '../../loadtest/evidence/playing.ts';
import type { Verdict } from '../../loadtest/evidence/results.ts';
import type { Both } from '../../loadtest/narration/language.ts';
import type { Reason } from '../../loadtest/narration/reasons.ts';
import type { Place } from '../picture/beats.ts';

/** A part that is started for a run on real servers. */
export type StartedPart = 'redis' | 'replica' | 'masters' | 'mariadb' | 'mysql' | 'zookeeper' | 'nginx' | 'nodes';

/** What goes on. `ready`: something may be started. `starting`: servers are. `free`: free play. */
export interface Play {
  is: 'starting' | 'ready' | 'playing' | 'free' | 'stopping' | 'over';
  /** What went wrong last, as a sentence. */
  trouble: string | null;
  /** What is started while it is `starting`: none where all of it runs already. */
  starts: StartedPart[];
}

/** What is played on real servers, or was played last. */
export interface RunView {
  /** Counts what was played. */
  number: number;
  stage: string;
  /** The scenario; null in free play. */
  drill: string | null;
  title: Both;
  /** Where its lock is, as it is drawn. */
  place: Place;
  events: PlayEvent[];
  /** Many buyers at once. */
  isLoad: boolean;
  /** What came of it; null until it is over. */
  verdict: { verdict: Verdict; expected: 'pass' | 'fail' | null; says: Reason[] } | null;
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
] as const;
export type Act = (typeof acts)[number];

/** A button of free play. */
export interface Control {
  act: Act;
  /** The part that it is done to: `node-1`, `redis`. Absent for the whole stack. */
  at?: string;
  /** It is done now, and doing it again undoes it. */
  isOn: boolean;
  /** Why it would do nothing here, as a sentence. */
  whyNot?: string;
}

/** `open`: votes are taken. `closed`: no more, and everybody sees them. `revealed`: everybody sees which answer is right, too. */
export type QuestionState = 'open' | 'closed' | 'revealed';

/** A question, as the room is asked it. */
export interface QuestionView {
  /** Counts the questions that were asked. A vote names it, so that none counts for the next question. */
  number: number;
  stage: string;
  /** The scenario that it is about; null where the lesson asks it. */
  drill: string | null;
  question: Both;
  is: QuestionState;
  /** The run that was over when it was asked: it stands on the wall for another question, and is not shown beside this one. */
  runBefore: number | null;
  answers: {
    text: Both;
    /** How many have chosen it. Null for followers as long as votes are taken: nobody is to follow the crowd. */
    votes: number | null;
    /** Null until it is revealed. */
    isRight: boolean | null;
    /** Why it is not so, where that is known. Null until it is revealed. */
    because: Both | null;
  }[];
  /** How many have voted. */
  voted: number;
  /** Why the right answer is right. Null until it is revealed. */
  explains: Both | null;
}

export interface RoomView {
  question: QuestionView | null;
  /** How many follow. */
  followers: number;
}

/** What a follower is sent: each part whole, when it has changed. */
export interface FollowerParts {
  /** Its id, by which it votes, and which it shows when it comes again. */
  follower: string;
  room: RoomView;
  /** What was played last. Null while it is played, while votes are taken, and beside a question that was asked after it. */
  run: RunView | null;
}

/** What the presenter is sent. */
export interface PresenterParts {
  play: Play;
  /** The buttons of free play; null while there is none. */
  controls: Control[] | null;
  room: RoomView;
  run: RunView | null;
  /** Where a room follows, and this as a code for cameras, an SVG. Null when the page is not shared. */
  share: { address: string; code: string } | null;
  /** The stages and strategies, each with the scenarios that can be played under it, and those that have a question. */
  choices: { stage: string; title: Both; drills: string[]; asked: string[] }[];
}

const name = z.string().max(60);

/** What a presenter may ask for. */
export const commandSchema = z.discriminatedUnion('do', [
  /** Plays a scenario under a stage; a load with as many buyers as the questions speak of, or with as few as the lesson has. */
  z.strictObject({ do: z.literal('play'), stage: name, drill: name, isLarge: z.boolean().optional() }),
  /** Ends the scenario, or free play, and puts the stack back. */
  z.strictObject({ do: z.literal('stop') }),
  /** Begins free play under a stage. */
  z.strictObject({ do: z.literal('free'), stage: name }),
  /** Presses a button of free play. */
  z.strictObject({ do: z.literal('act'), act: z.enum(acts), at: z.string().max(20).optional() }),
  /** Undoes all that free play has broken. */
  z.strictObject({ do: z.literal('undo') }),
  /** Asks the room about a scenario under a stage, or what the lesson asks; it takes the place of the question before. */
  z.strictObject({ do: z.literal('ask'), stage: name, drill: name.optional() }),
  z.strictObject({ do: z.literal('close-votes') }),
  /** Says which answer is right. It closes the votes, if they are open. */
  z.strictObject({ do: z.literal('reveal') }),
  /** Takes the question away. */
  z.strictObject({ do: z.literal('forget') }),
]);
export type Command = z.output<typeof commandSchema>;
export type RoomCommand = Extract<Command, { do: 'ask' | 'close-votes' | 'reveal' | 'forget' }>;
export type PlayCommand = Exclude<Command, RoomCommand>;

/** All that a follower may ask for. `question` is the number of the question, `answer` the place of the answer. */
export const voteSchema = z.strictObject({ question: z.int().min(1), answer: z.int().min(0).max(9) });
export type Vote = z.output<typeof voteSchema>;
