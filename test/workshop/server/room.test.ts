import { beforeEach, describe, expect, test } from 'vitest';
import type { RoomCommand } from '../../../workshop/page/protocol.ts';
import { type Lesson, lessons } from '../../../workshop/picture/lessons.ts';
import { tokenGate } from '../../../workshop/server/listener.ts';
import { type Question, readQuestions } from '../../../workshop/server/questions.ts';
import { createRoom, type Room } from '../../../workshop/server/room.ts';
import { lettersOf } from '../../../workshop/server/share.ts';

const stage = '4-ttl';
const questions = readQuestions();
const lesson = lessons.find((each) => each.stage === stage) as Lesson;
/** The place of the right answer, as the answers are shown. */
const { right } = lesson;
let changes: number;
let room: Room;

beforeEach(() => {
  changes = 0;
  room = createRoom({ questions, onChange: () => (changes += 1) });
});

const ask = () => room.command({ do: 'ask', stage });
const votes = (view = room.forPresenter()) => view.question?.answers.map(({ votes }) => votes);
const refusedWith = (code: string) => expect.objectContaining({ code });

describe('a question', () => {
  test('is asked, voted on, closed, revealed and forgotten; followers see no votes while they are taken, and no answer before it is shown', () => {
    const [ada, ben] = [room.join(''), room.join('')];
    ask();
    room.vote(ada, { question: 1, answer: 0 });
    room.vote(ben, { question: 1, answer: right });
    const open = room.forFollowers();
    expect(open).toMatchObject({ followers: 2, question: { number: 1, stage, is: 'open', voted: 2, explains: null } });
    expect(votes(open)).toEqual(lesson.answers.map(() => null));
    expect(votes()?.reduce((sum, count) => (sum ?? 0) + (count ?? 0), 0)).toBe(2);
    expect(open.question?.answers.map(({ text }) => text)).toEqual(lesson.answers.map(({ text }) => text));

    room.command({ do: 'close-votes' });
    const closed = room.forFollowers();
    expect([votes(closed), closed.question?.is]).toEqual([votes(), 'closed']);
    for (const shown of [open, closed, room.forPresenter()]) {
      expect(shown.question?.answers.map(({ isRight }) => isRight)).toEqual(lesson.answers.map(() => null));
      expect(JSON.stringify(shown)).not.toContain(lesson.answers[right]?.why[0]);
    }

    room.command({ do: 'reveal' });
    const told = room.forFollowers().question;
    expect(told?.answers.findIndex(({ isRight }) => isRight)).toBe(right);
    expect(told?.explains).toEqual(lesson.answers[right]?.why);
    room.command({ do: 'forget' });
    expect(room.forFollowers().question).toBeNull();
  });

  test('about a scenario: what stands beside the chapter is asked, and told why the other answers are not so', () => {
    room.command({ do: 'ask', stage, drill: 'slow-holder' });
    room.command({ do: 'reveal' });
    const answers = room.forFollowers().question?.answers;

    const { question, explains } = (questions[stage] ?? []).find(({ drill }) => drill === 'slow-holder') as Question;
    expect(room.forFollowers().question).toMatchObject({ stage, drill: 'slow-holder', question, explains });
    expect(answers?.filter(({ isRight }) => isRight)).toHaveLength(1);
    expect(answers?.every(({ isRight, because }) => isRight === (because === null))).toBe(true);
  });

  test('takes no votes any more when something is played', () => {
    ask();
    room.playBegins();
    expect([room.isOpen(), room.forFollowers().question?.is]).toEqual([false, 'closed']);
  });

  test.each<[RoomCommand, string]>([
    [{ do: 'ask', stage: 'cohort' }, 'NO_QUESTION'],
    [{ do: 'ask', stage, drill: 'rush' }, 'NO_QUESTION'],
    [{ do: 'close-votes' }, 'NOTHING_ASKED'],
  ])('where there is none for %j: refused', (command, code) => {
    expect(() => room.command(command)).toThrow(refusedWith(code));
    expect(changes).toBe(0);
  });
});

describe('a vote', () => {
  test('may be changed while votes are taken, and counts once', () => {
    const id = room.join('');
    ask();
    room.vote(id, { question: 1, answer: 0 });
    room.vote(id, { question: 1, answer: 1 });

    expect([votes(), room.forPresenter().question?.voted]).toEqual([[0, 1, 0], 1]);
  });

  const asks = { do: 'ask', stage } as const;
  test.each<[string, RoomCommand[], string]>([
    ['that nobody was asked for', [], 'NOTHING_ASKED'],
    ['after the votes were closed', [asks, { do: 'close-votes' }], 'VOTES_CLOSED'],
    ['for the question before', [asks, asks], 'VOTES_CLOSED'],
  ])('%s: is refused, and counts for nothing', (_which, commands, code) => {
    const id = room.join('');
    for (const command of commands) room.command(command);

    expect(() => room.vote(id, { question: 1, answer: 1 })).toThrow(refusedWith(code));
    expect(votes()?.some((count) => count !== 0) ?? false).toBe(false);
  });
});

describe('those who follow', () => {
  test('are counted once each, while a stream of theirs is open; their votes stay, and they are known when they come again', () => {
    ask();
    const [ada, ben] = [room.join(''), room.join('')];
    expect(room.join('', ada)).toBe(ada);
    expect(room.forPresenter().followers).toBe(2);
    room.vote(ben, { question: 1, answer: 1 });
    room.leave(ada);
    room.leave(ben);
    expect([room.forPresenter().followers, votes()]).toEqual([1, [0, 1, 0]]);

    expect(room.join('', ben)).toBe(ben);
    room.vote(ben, { question: 1, answer: 0 });
    expect(votes()).toEqual([1, 0, 0]);
    expect(room.join('', 'made-up')).not.toBe('made-up');
  });

  // Of phones behind one router all have the same address.
  test.each([
    ['each at an address of its own', 300, (count: number) => `10.0.0.${count}`],
    ['all at one address', 40, () => '10.0.0.1'],
  ])('who open the page again and again, %s: no more than %i are known, and no more votes count', (_, most, at) => {
    ask();
    const stays = room.join(at(0));
    room.vote(stays, { question: 1, answer: 0 });
    for (let count = 1; count <= 400; count += 1) {
      const id = room.join(at(count));
      room.vote(id, { question: 1, answer: 1 });
      room.leave(id);
    }
    expect(votes()).toEqual([1, most - 1, 0]);
    expect(room.join(at(0), stays)).toBe(stays);

    for (let count = 1; count < most; count += 1) room.join(at(count));
    expect(() => room.join(at(0))).toThrow(refusedWith('TOO_MANY_FOLLOW'));
  });
});

describe('the token of the room', () => {
  const TOKEN = 'k3v-92m-fxp-w7t';

  test.each([
    [TOKEN, true],
    ['K3V92MFXPW7T', true],
    [' K3v 92m fxp w7t', true],
    ['k3v-92m-fxp-w7tt', false],
    ['', false],
  ])('%j: %s', (shown, isRight) => {
    expect(tokenGate(TOKEN, lettersOf)(shown)).toBe(isRight);
  });
});
