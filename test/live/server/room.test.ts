import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { LiveState, StackView } from '../../../live/contract.ts';
import type { Questions } from '../../../live/questions.ts';
import type { RoomOrder } from '../../../live/room-contract.ts';
import { createTokenGate } from '../../../live/server/follower-token.ts';
import { createRoom, type Room } from '../../../live/server/room.ts';
import { view } from '../client/sample-view.ts';

const questions: Questions = {
  '4-ttl': [
    {
      drill: 'slow-holder',
      question: 'What happens to the others?',
      atStep: 'holds the lock, and stalls',
      answers: [
        { text: 'Nothing happens.', verdict: 'pass', because: 'Something does.' },
        { text: 'A third one enters.', verdict: 'fail', isRight: true },
        { text: 'Redis refuses.', verdict: 'pass', because: 'It does not.' },
      ],
      explains: 'The key is that of the next holder.',
    },
  ],
};
const cell = { stage: '4-ttl', drill: 'slow-holder' };
let state: LiveState;
let changes: number;
let room: Room;

beforeEach(() => {
  state = { play: { is: 'ready', trouble: null }, controls: null, views: [] };
  changes = 0;
  room = createRoom({ questions, read: () => state, onChange: () => (changes += 1) });
});

const ask = () => room.order({ do: 'ask', ...cell });
const votes = (view = room.forPresenter()) => view.question?.answers.map(({ votes }) => votes);
const refusedWith = (code: string) => expect.objectContaining({ code });

describe('a question', () => {
  test('is asked, voted on, closed, revealed and forgotten', () => {
    expect(room.forPresenter()).toMatchObject({ question: null, followers: 0, askable: { '4-ttl': ['slow-holder'] } });
    ask();
    const hidden = { votes: null, isRight: null, because: null };
    expect(room.forFollowers().question).toEqual({
      number: 1,
      ...cell,
      text: 'What happens to the others?',
      is: 'open',
      answers: questions['4-ttl']?.[0]?.answers.map(({ text }) => ({ text, ...hidden })),
      voted: 0,
      prediction: null,
      outcome: null,
    });

    const [ada, ben] = [room.join(), room.join()];
    room.vote(ada, { question: 1, answer: 1 });
    room.vote(ben, { question: 1, answer: 2 });
    expect([votes(), room.forPresenter().question?.voted]).toEqual([[0, 1, 1], 2]);
    room.order({ do: 'close-votes' });
    expect(room.forPresenter().question).toMatchObject({ is: 'closed', outcome: null });

    room.order({ do: 'reveal' });
    expect(room.forFollowers().question).toMatchObject({
      is: 'revealed',
      answers: [
        { isRight: false, because: 'Something does.' },
        { isRight: true, because: null },
        { isRight: false, because: 'It does not.' },
      ],
      outcome: { expected: 'fail', explains: 'The key is that of the next holder.', happened: null },
    });
    room.order({ do: 'forget' });
    expect(room.forFollowers().question).toBeNull();
  });

  test('followers see no votes, no prediction and nothing of the answer while votes are taken', () => {
    const id = room.join();
    ask();
    room.order({ do: 'predict', answer: 2 });
    room.vote(id, { question: 1, answer: 1 });

    const open = room.forFollowers();
    expect(open.question).toMatchObject({ voted: 1, prediction: null });
    expect(votes(open)).toEqual([null, null, null]);
    for (const secret of ['Something does', 'next holder', '"isRight":true', '"isRight":false']) {
      expect(JSON.stringify([open, room.forPresenter()])).not.toContain(secret);
    }
    expect(room.forPresenter().question?.prediction).toBe(2);

    room.order({ do: 'close-votes' });
    expect(room.forFollowers().question).toMatchObject({ prediction: 2 });
    expect(votes(room.forFollowers())).toEqual([0, 1, 0]);
  });

  test.each<[RoomOrder, string]>([
    [{ do: 'ask', stage: '4-ttl', drill: 'rush' }, 'NO_QUESTION'],
    [{ do: 'close-votes' }, 'NOTHING_ASKED'],
  ])('where there is none to %j about: refused', (order, code) => {
    expect(() => room.order(order)).toThrow(refusedWith(code));
    expect(changes).toBe(0);
  });

  test('what happened is what the drill gave after it was asked about, and stays when the next one is played', () => {
    const ended = (...reasons: string[]): StackView[] => [
      { ...view, ...cell, verdict: { verdict: 'fail', taught: 'fail', reasons, witnesses: [] } },
    ];
    const happened = () => room.forFollowers().question?.outcome?.happened;
    state.views = ended('Two met yesterday.', 'And more.');
    ask();
    room.order({ do: 'reveal' });
    expect(happened()).toEqual({ verdict: 'fail', sentence: 'Two met yesterday. And more.' });

    state.views = [{ ...view, ...cell, verdict: null }];
    room.forFollowers();
    state.views = ended('Two met today.');
    expect(happened()?.sentence).toBe('Two met today.');
    state.views = ended('').map((ended) => ({ ...ended, drill: 'rush' }));
    expect(happened()?.sentence).toBe('Two met today.');
  });
});

describe('a question that belongs to a step', () => {
  const text = 'Sale 0001 on node-1 holds the lock, and stalls.';

  test('is asked when its drill waits at that step, and the votes are closed when it goes on', () => {
    room.stepWaits({ ...cell, text: 'node-1 is about to sell.' });
    room.stepWaits({ stage: '5-owner-check', drill: 'slow-holder', text });
    room.stepWaits({ stage: '4-ttl', drill: 'crashed-holder', text });
    expect([room.forPresenter().question, changes]).toEqual([null, 0]);

    room.stepWaits({ ...cell, text });
    expect(room.forFollowers().question).toMatchObject({ number: 1, ...cell, is: 'open' });
    room.drillBegins();
    expect(room.forFollowers().question).toMatchObject({ is: 'closed' });
  });

  test('is not asked again where it was asked before, unless it was taken away', () => {
    for (const order of [{ do: 'ask', ...cell }, { do: 'reveal' }] as const) {
      room.order(order);
      room.stepWaits({ ...cell, text });
      expect(room.forPresenter().question?.number).toBe(1);
    }
    room.order({ do: 'forget' });
    room.stepWaits({ ...cell, text });
    expect(room.forPresenter().question).toMatchObject({ number: 2, is: 'open', voted: 0 });
  });
});

describe('a vote', () => {
  test('may be changed while votes are taken, and counts once', () => {
    const id = room.join();
    ask();
    room.vote(id, { question: 1, answer: 0 });
    room.vote(id, { question: 1, answer: 1 });

    expect([votes(), room.forPresenter().question?.voted]).toEqual([[0, 1, 0], 1]);
  });

  const asks = { do: 'ask', ...cell } as const;
  test.each<[string, RoomOrder[], string]>([
    ['that nobody was asked for', [], 'NOTHING_ASKED'],
    ['after the votes were closed', [asks, { do: 'close-votes' }], 'VOTES_CLOSED'],
    ['for the question before', [asks, asks], 'VOTES_CLOSED'],
  ])('%s: is refused, and counts for nothing', (_which, orders, code) => {
    const id = room.join();
    for (const order of orders) room.order(order);

    expect(() => room.vote(id, { question: 1, answer: 1 })).toThrow(refusedWith(code));
    expect(votes()?.some((count) => count !== 0) ?? false).toBe(false);
  });

  test('more than two a second: the others are refused, and a second later it may vote again', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const [id, other] = [room.join(), room.join()];
      ask();
      for (const answer of [0, 1]) room.vote(id, { question: 1, answer });
      const third = () => room.vote(id, { question: 1, answer: 2 });

      expect(third).toThrow(refusedWith('TOO_MANY_VOTES'));
      room.vote(other, { question: 1, answer: 0 });
      expect(votes()).toEqual([1, 1, 0]);
      vi.advanceTimersByTime(1_001);
      third();
      expect(votes()).toEqual([1, 0, 1]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('those who follow', () => {
  test('are counted once each, while a stream of theirs is open; their votes stay, and they are known when they come again', () => {
    ask();
    const [ada, ben] = [room.join(), room.join()];
    expect(room.join(ada)).toBe(ada);
    expect(room.forPresenter().followers).toBe(2);
    room.vote(ben, { question: 1, answer: 1 });
    room.leave(ada);
    room.leave(ben);
    expect([room.forPresenter().followers, votes()]).toEqual([1, [0, 1, 0]]);

    expect(room.join(ben)).toBe(ben);
    room.vote(ben, { question: 1, answer: 0 });
    expect(votes()).toEqual([1, 0, 0]);
    expect(room.join('made-up')).not.toBe('made-up');
  });

  test('who open the page again and again: no more than 300 are known, and no more votes count', () => {
    ask();
    const stays = room.join();
    room.vote(stays, { question: 1, answer: 0 });
    for (let count = 0; count < 400; count += 1) {
      const id = room.join();
      room.vote(id, { question: 1, answer: 1 });
      room.leave(id);
    }

    expect(votes()).toEqual([1, 299, 0]);
    expect(room.knows(stays)).toBe(true);
  });

  test('of whom 300 are there: no other one comes in', () => {
    for (let count = 0; count < 300; count += 1) room.join();

    expect(() => room.join()).toThrow(refusedWith('TOO_MANY_FOLLOW'));
  });
});

describe('the token of the room', () => {
  const TOKEN = 'k3v-92m-fxp';

  test.each([
    [TOKEN, 'right'],
    ['K3V92MFXP', 'right'],
    [' K3v 92m fxp', 'right'],
    ['k3v-92m-fxpp', 'wrong'],
  ])('%j is %s', (shown, answer) => {
    expect(createTokenGate(TOKEN).look(shown, false)).toBe(answer);
  });

  test('20 wrong ones a second are looked at: then nobody who is new gets in, whatever is shown, until it goes on', () => {
    let now = 0;
    const gate = createTokenGate(TOKEN, () => now);
    const guesses = (name: string) => Array.from({ length: 30 }, (_, count) => gate.look(`${name} ${count}`, false));

    expect(guesses('first')).toEqual([...Array(20).fill('wrong'), ...Array(10).fill('later')]);
    expect([gate.look(TOKEN, false), gate.look(TOKEN, true)]).toEqual(['later', 'right']);
    now += 50;
    expect(gate.look(TOKEN, false)).toBe('right');
    // However long nobody has guessed.
    now += 3_600_000;
    expect(guesses('second').filter((answer) => answer === 'wrong')).toHaveLength(20);
  });

  test('tabs with the token of yesterday, again and again, keep nobody out', () => {
    const gate = createTokenGate(TOKEN, () => 0);

    for (let count = 0; count < 100; count += 1) expect(gate.look('old-one-999', false)).toBe('wrong');
    expect(gate.look(TOKEN, false)).toBe('right');
  });
});
