// The room: which question is asked, who has said what, and when the answer is shown.

import { randomBytes } from 'node:crypto';
import type { Both } from '../../loadtest/narration/language.ts';
import type { QuestionState, QuestionView, RoomCommand, RoomView, Vote } from '../page/protocol.ts';
import { lessons } from '../picture/lessons.ts';
import type { Questions } from './questions.ts';
import { Refusal } from './refusal.ts';

/** How many followers are known at most: those who follow, and some whose phone has gone to sleep. */
const MOST_KNOWN = 300;
/**
 * How many of them have the same address. Thirty phones behind one router have one, and all get in; so one phone that asks for ids again and
 * again can't have more votes than that, and can't fill the room.
 */
const MOST_AT_ADDRESS = 40;

interface Asked {
  number: number;
  stage: string;
  drill: string | null;
  question: Question;
  is: QuestionState;
  runBefore: number | null;
  /** The places of the answers, by the ids of those who chose them. */
  votes: Map<string, number>;
}

interface Question {
  question: Both;
  answers: { text: Both; isRight: boolean; because: Both | null }[];
  explains: Both;
}

export type Room = ReturnType<typeof createRoom>;

export interface RoomOptions {
  questions: Questions;
  /** The number of the run that was played last, once it is over. */
  lastRun?: () => number | null;
  /** Called when something is to be seen anew. */
  onChange: () => void;
}

/** Asks these questions, and those of the lesson. */
export function createRoom({ questions, lastRun = () => null, onChange }: RoomOptions) {
  /**
   * Who is in the room, and how many streams of each are open: a page that is opened again may overlap with itself. There are no names, only
   * ids, which the server made.
   */
  const followers = new Map<string, { streams: number; address: string }>();
  let asked: Asked | null = null;
  let count = 0;

  function ask(stage: string, drill: string | null) {
    const question = drill === null ? ofLesson(stage) : ofScenario(questions, stage, drill);
    if (!question) throw new Refusal(404, 'NO_QUESTION', `There is no question about ${drill ?? 'it'} under ${stage}.`);
    count += 1;
    asked = { number: count, stage, drill, question, is: 'open', runBefore: lastRun(), votes: new Map() };
  }

  function mustBeAsked(): Asked {
    if (asked === null) throw new Refusal(409, 'NOTHING_ASKED', 'No question is asked.');
    return asked;
  }

  function mustBeOpen(): Asked {
    const open = mustBeAsked();
    if (open.is !== 'open') throw new Refusal(409, 'VOTES_CLOSED', 'Votes are no longer taken.');
    return open;
  }

  function carryOut(command: RoomCommand) {
    switch (command.do) {
      case 'ask':
        return ask(command.stage, command.drill ?? null);
      case 'close-votes':
        mustBeOpen().is = 'closed';
        return;
      case 'reveal':
        mustBeAsked().is = 'revealed';
        return;
      case 'forget':
        mustBeAsked();
        asked = null;
        return;
    }
  }

  /** Makes place for one more: of those who have left, the one who left first is forgotten, and what it said with it. */
  function makePlace(address: string) {
    const there = [...followers];
    const near = there.filter(([, each]) => each.address === address);
    if (near.length < MOST_AT_ADDRESS && there.length < MOST_KNOWN) return;
    const [id] = (near.length < MOST_AT_ADDRESS ? there : near).find(([, { streams }]) => streams === 0) ?? [];
    if (id === undefined) throw new Refusal(503, 'TOO_MANY_FOLLOW', 'The room is full.');
    followers.delete(id);
    asked?.votes.delete(id);
  }

  const view = (isPresenter: boolean): RoomView => ({
    question: asked && questionView(asked, isPresenter),
    followers: [...followers.values()].filter(({ streams }) => streams > 0).length,
  });

  return {
    /** Carries out what the presenter asks for. Throws Refusal when it does not fit what is asked. */
    command(command: RoomCommand) {
      carryOut(command);
      onChange();
    },
    isOpen: () => asked?.is === 'open',
    /** Something is played: who has not voted yet would know too much. */
    playBegins() {
      if (asked?.is !== 'open') return;
      asked.is = 'closed';
      onChange();
    },
    /** Somebody at this address follows: with the id that it was given before, or with a new one. Throws Refusal when the room is full. */
    join(address: string, before?: string): string {
      const known = before === undefined ? undefined : followers.get(before);
      const id = known === undefined ? randomBytes(12).toString('base64url') : (before as string);
      if (known === undefined) makePlace(address);
      followers.set(id, { streams: (known?.streams ?? 0) + 1, address });
      onChange();
      return id;
    },
    /** A stream of this follower has ended. What it said still counts: a phone that sleeps has not changed its mind. */
    leave(id: string) {
      const left = followers.get(id);
      if (left === undefined) return;
      // The one that left last stands last.
      followers.delete(id);
      followers.set(id, { ...left, streams: left.streams - 1 });
      onChange();
    },
    /** Takes a vote, or another one in its place. Throws Refusal. */
    vote(id: string, { question, answer }: Vote) {
      if (!followers.has(id)) throw new Refusal(403, 'FOLLOWER_UNKNOWN', 'Open the page again to vote.');
      const open = mustBeOpen();
      if (open.number !== question) throw new Refusal(409, 'VOTES_CLOSED', 'Another question is asked by now.');
      if (answer >= open.question.answers.length)
        throw new Refusal(400, 'BAD_REQUEST', 'The question has fewer answers.');
      open.votes.set(id, answer);
      onChange();
    },
    forPresenter: () => view(true),
    forFollowers: () => view(false),
  };
}

function questionView(
  { number, stage, drill, question, is, runBefore, votes }: Asked,
  isPresenter: boolean,
): QuestionView {
  const isRevealed = is === 'revealed';
  const chosen = [...votes.values()];
  return {
    ...{ number, stage, drill, is, runBefore, question: question.question, voted: votes.size },
    answers: question.answers.map(({ text, isRight, because }, place) => ({
      text,
      votes: isPresenter || is !== 'open' ? chosen.filter((each) => each === place).length : null,
      isRight: isRevealed ? isRight : null,
      because: isRevealed ? because : null,
    })),
    explains: isRevealed ? question.explains : null,
  };
}

function ofLesson(stage: string): Question | undefined {
  const lesson = lessons.find((each) => each.stage === stage);
  if (lesson === undefined) return undefined;
  const { question, right } = lesson;
  const answers = lesson.answers.map(({ text, why }, at) => {
    const isRight = at === right;
    return { text, isRight, because: isRight ? null : why };
  });
  return { question, answers, explains: lesson.answers[right]?.why ?? ['', ''] };
}

function ofScenario(questions: Questions, stage: string, drill: string): Question | undefined {
  const found = Object.hasOwn(questions, stage) ? questions[stage]?.find((each) => each.drill === drill) : undefined;
  const answers = found?.answers.map(({ text, isRight = false, because = null }) => ({ text, isRight, because }));
  return found && answers && { question: found.question, answers, explains: found.explains };
}
