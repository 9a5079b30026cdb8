// The live page's data and commands: the one definition, for its server and for the page.

import { z } from 'zod';
import type { PlayEvent } from '../../loadtest/evidence/playing.ts';
import type { Verdict } from '../../loadtest/evidence/results.ts';
import type { Both } from '../../loadtest/narration/language.ts';
import type { Reason } from '../../loadtest/narration/reasons.ts';
import type { Place } from '../picture/beats.ts';

/** A part that is started for a run on real servers. */
export type StartedPart = 'redis' | 'replica' | 'masters' | 'mariadb' | 'mysql' | 'zookeeper' | 'nginx' | 'nodes';

/** The current activity. `ready`: something may be started. `starting`: servers are starting. `free`: free play. */
export interface Play {
  is: 'starting' | 'ready' | 'playing' | 'free' | 'stopping' | 'over';
  /** The last problem, as a sentence. */
  trouble: string | null;
  /** What is being started; empty if everything is already running. */
  starts: StartedPart[];
}

/** The current or last run on real servers. */
export interface RunView {
  /** Counts the runs. */
  number: number;
  stage: string;
  /** The scenario; null in free play. */
  drill: string | null;
  title: Both;
  /** Where its lock is drawn. */
  place: Place;
  events: PlayEvent[];
  /** Many buyers at once. */
  isLoad: boolean;
  /** Its result; null until it is over. */
  verdict: { verdict: Verdict; expected: 'pass' | 'fail' | null; says: Reason[] } | null;
}

/** The actions on a stack in free play: on the whole stack, or on the part `at`. */
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
  /** The part that it acts on: `node-1`, `redis`. Absent for the whole stack. */
  at?: string;
  /** True while it is on; pressing it again undoes it. */
  isOn: boolean;
  /** Why it would do nothing now, as a sentence. */
  whyNot?: string;
}

/** `open`: voting is possible. `closed`: voting is over, and everybody sees the votes. `revealed`: everybody also sees the right answer. */
export type QuestionState = 'open' | 'closed' | 'revealed';

/** A question to the room. */
export interface QuestionView {
  /** Counts the questions. A vote includes it, so that it can't count for a later question. */
  number: number;
  stage: string;
  /** The scenario that it is about; null if the lesson asks it. */
  drill: string | null;
  question: Both;
  is: QuestionState;
  /** The run that was over when it was asked: it belongs to another question and is not shown beside this one. */
  runBefore: number | null;
  answers: {
    text: Both;
    /** The number of votes for it. Null for followers while voting is open, so that nobody follows the crowd. */
    votes: number | null;
    /** Null until it is revealed. */
    isRight: boolean | null;
    /** Why it is wrong, if known. Null until it is revealed. */
    because: Both | null;
  }[];
  /** The number of votes. */
  voted: number;
  /** Why the right answer is right. Null until it is revealed. */
  explains: Both | null;
}

export interface RoomView {
  question: QuestionView | null;
  /** The number of followers. */
  followers: number;
}

/** What a follower receives: each changed part, complete. */
export interface FollowerParts {
  /** Its id, used for voting and for reconnecting. */
  follower: string;
  room: RoomView;
  /** The last run. Null while it is playing, while voting is open, and beside a question that was asked after it. */
  run: RunView | null;
}

/** What the presenter receives. */
export interface PresenterParts {
  play: Play;
  /** The buttons of free play; null otherwise. */
  controls: Control[] | null;
  room: RoomView;
  run: RunView | null;
  /** The attendees' address, and its QR code as SVG. Null if the page is not shared. */
  share: { address: string; code: string } | null;
  /** The stages and strategies, each with its playable scenarios, and the scenarios that have a question. */
  choices: { stage: string; title: Both; drills: string[]; asked: string[] }[];
}

const name = z.string().max(60);

/** The presenter's commands. */
export const commandSchema = z.discriminatedUnion('do', [
  /** Plays a scenario under a stage; a load either at the size in the questions or at the lesson's smaller size. */
  z.strictObject({ do: z.literal('play'), stage: name, drill: name, isLarge: z.boolean().optional() }),
  /** Ends the scenario or free play, and restores the stack. */
  z.strictObject({ do: z.literal('stop') }),
  /** Starts free play under a stage. */
  z.strictObject({ do: z.literal('free'), stage: name }),
  /** Presses a button of free play. */
  z.strictObject({ do: z.literal('act'), act: z.enum(acts), at: z.string().max(20).optional() }),
  /** Undoes everything that free play has broken. */
  z.strictObject({ do: z.literal('undo') }),
  /** Asks the room about a scenario under a stage, or the lesson's question; replaces the previous question. */
  z.strictObject({ do: z.literal('ask'), stage: name, drill: name.optional() }),
  z.strictObject({ do: z.literal('close-votes') }),
  /** Reveals the right answer, closing the votes if they are open. */
  z.strictObject({ do: z.literal('reveal') }),
  /** Removes the question. */
  z.strictObject({ do: z.literal('forget') }),
]);
export type Command = z.output<typeof commandSchema>;
export type RoomCommand = Extract<Command, { do: 'ask' | 'close-votes' | 'reveal' | 'forget' }>;
export type PlayCommand = Exclude<Command, RoomCommand>;

/** A follower's only command. `question` is the number of the question, `answer` the index of the answer. */
export const voteSchema = z.strictObject({ question: z.int().min(1), answer: z.int().min(0).max(9) });
export type Vote = z.output<typeof voteSchema>;
