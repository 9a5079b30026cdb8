// The room: which question is asked, who has said what, and when the answer is shown.

import { randomBytes } from 'node:crypto';
import type { LiveState, VerdictView } from '../contract.ts';
import type { Question, Questions } from '../questions.ts';
import type { Outcome, QuestionState, QuestionView, RoomOrder, RoomView, Vote } from '../room-contract.ts';
import { Refusal } from './refusal.ts';

/** How many followers are known at most: those who follow, and some whose phone has gone to sleep. */
const MOST_KNOWN = 300;
/** How often a follower may vote. More often than a person can change their mind. */
const VOTES_PER_SECOND = 2;

/** Somebody in the room. There is no name: only an id, which the server made. */
interface Follower {
  /** How many streams of it are open: a page that is opened again may overlap with itself. */
  streams: number;
  /** When it voted within the last second, on the clock of this process. */
  votedAt: number[];
}

interface Asked {
  number: number;
  stage: string;
  question: Question;
  is: QuestionState;
  /** The places of the answers, by the ids of those who chose them. */
  votes: Map<string, number>;
  prediction: number | null;
  /** How the drill had come out before it was asked about, if the page showed it. */
  before: VerdictView | null;
  /** How it came out since then. It is kept: the next drill takes its place on the page. */
  since: VerdictView | null;
}

export interface RoomOptions {
  questions: Questions;
  /** What is played: a drill that was asked about comes out here. */
  read: () => Pick<LiveState, 'views'>;
  /** Called when something is to be seen anew. */
  onChange: () => void;
}

export type Room = ReturnType<typeof createRoom>;

export function createRoom({ questions, read, onChange }: RoomOptions) {
  const followers = new Map<string, Follower>();
  const askable = Object.fromEntries(
    Object.entries(questions).map(([stage, ofStage]) => [stage, ofStage.map(({ drill }) => drill)]),
  );
  let asked: Asked | null = null;
  let count = 0;
  let address: string | null = null;

  function questionOf(stage: string, drill: string): Question | undefined {
    return Object.hasOwn(questions, stage) ? questions[stage]?.find((one) => one.drill === drill) : undefined;
  }

  function ask(stage: string, drill: string) {
    const question = questionOf(stage, drill);
    if (!question) throw new Refusal(404, 'NO_QUESTION', `There is no question about ${drill} under ${stage}.`);
    count += 1;
    const before = verdictIn(read().views, stage, drill);
    asked = { number: count, stage, question, is: 'open', votes: new Map(), prediction: null, before, since: null };
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

  function carryOut(order: RoomOrder) {
    switch (order.do) {
      case 'ask':
        return ask(order.stage, order.drill);
      case 'predict': {
        const open = mustBeOpen();
        open.prediction = placeOf(open, order.answer);
        return;
      }
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
  function forgetOne() {
    for (const [id, { streams }] of followers) {
      if (streams > 0) continue;
      followers.delete(id);
      asked?.votes.delete(id);
      return;
    }
    throw new Refusal(503, 'TOO_MANY_FOLLOW', 'The room is full.');
  }

  function following(): number {
    return [...followers.values()].filter(({ streams }) => streams > 0).length;
  }

  function view(isPresenter: boolean): RoomView {
    if (asked !== null) noteVerdict(asked, verdictIn(read().views, asked.stage, asked.question.drill));
    return {
      question: asked && questionView(asked, isPresenter),
      followers: following(),
      address: isPresenter ? address : null,
      askable: isPresenter ? askable : {},
    };
  }

  return {
    /** Carries out what the presenter asks for. Throws Refusal when it does not fit what is asked. */
    order(order: RoomOrder) {
      carryOut(order);
      onChange();
    },
    /** A drill begins, or goes on from a step: who has not voted yet would know too much. */
    drillBegins() {
      if (asked?.is !== 'open') return;
      asked.is = 'closed';
      onChange();
    },
    /** A drill has come to a step, and waits there: it is asked about if that belongs to this step, and was not asked before. */
    stepWaits({ stage, drill, text }: { stage: string; drill: string; text: string }) {
      const atStep = questionOf(stage, drill)?.atStep;
      if (atStep === undefined || !text.includes(atStep)) return;
      if (asked?.stage === stage && asked.question.drill === drill) return;
      ask(stage, drill);
      onChange();
    },
    /** Where the room follows from now on. */
    openAt(where: string) {
      address = where;
      onChange();
    },
    knows: (id: string) => followers.has(id),
    /** Somebody follows: with the id that it was given before, or with a new one. Throws Refusal when the room is full. */
    join(before?: string): string {
      const known = before === undefined ? undefined : followers.get(before);
      const id = known === undefined ? randomBytes(12).toString('base64url') : (before as string);
      if (known === undefined && followers.size >= MOST_KNOWN) forgetOne();
      followers.set(id, { streams: (known?.streams ?? 0) + 1, votedAt: known?.votedAt ?? [] });
      onChange();
      return id;
    },
    /** A stream of this follower has ended. What it said still counts: a phone that sleeps has not changed its mind. */
    leave(id: string) {
      const follower = followers.get(id);
      if (follower === undefined) return;
      // The one that left last stands last.
      followers.delete(id);
      followers.set(id, { ...follower, streams: follower.streams - 1 });
      onChange();
    },
    /** Takes a vote, or another one in its place. Throws Refusal. */
    vote(id: string, { question, answer }: Vote) {
      const follower = followers.get(id);
      if (follower === undefined) throw new Refusal(403, 'FOLLOWER_UNKNOWN', 'Open the page again to vote.');
      const now = performance.now();
      follower.votedAt = follower.votedAt.filter((at) => now - at < 1_000);
      if (follower.votedAt.length >= VOTES_PER_SECOND) {
        throw new Refusal(429, 'TOO_MANY_VOTES', 'That was too often: wait a second.');
      }
      follower.votedAt.push(now);
      const open = mustBeOpen();
      if (open.number !== question) throw new Refusal(409, 'VOTES_CLOSED', 'Another question is asked by now.');
      open.votes.set(id, placeOf(open, answer));
      onChange();
    },
    forPresenter: () => view(true),
    forFollowers: () => view(false),
  };
}

function noteVerdict(asked: Asked, verdict: VerdictView | null) {
  if (verdict === asked.before) return;
  asked.before = null;
  asked.since = verdict ?? asked.since;
}

function placeOf({ question }: Asked, answer: number): number {
  if (answer < question.answers.length) return answer;
  throw new Refusal(400, 'BAD_REQUEST', 'The question has fewer answers.');
}

function questionView(asked: Asked, isPresenter: boolean): QuestionView {
  const { number, stage, question, is, votes, prediction } = asked;
  const isCounted = isPresenter || is !== 'open';
  const isRevealed = is === 'revealed';
  const chosen = [...votes.values()];
  return {
    number,
    stage,
    drill: question.drill,
    text: question.question,
    is,
    answers: question.answers.map(({ text, isRight = false, because = null }, place) => ({
      text,
      votes: isCounted ? chosen.filter((answer) => answer === place).length : null,
      isRight: isRevealed ? isRight : null,
      because: isRevealed ? because : null,
    })),
    voted: votes.size,
    prediction: isCounted ? prediction : null,
    outcome: isRevealed ? outcomeOf(asked) : null,
  };
}

function outcomeOf({ question, before, since }: Asked): Outcome {
  const right = question.answers.find(({ isRight }) => isRight) as Question['answers'][number];
  const seen = since ?? before;
  return {
    expected: right.verdict,
    explains: question.explains,
    happened: seen && { verdict: seen.verdict, sentence: seen.reasons.join(' ') },
  };
}

/** How the drill came out that stands on the page, if it is this one and has ended. */
function verdictIn(views: LiveState['views'], stage: string, drill: string): VerdictView | null {
  return views.find((view) => view.stage === stage && view.drill === drill)?.verdict ?? null;
}
