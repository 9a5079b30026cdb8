import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { LiveState, StackView } from '../../../live/contract.ts';
import { type Questions, readQuestions } from '../../../live/questions.ts';
import { createTokenGate, makeFollowerToken } from '../../../live/server/follower-token.ts';
import { createRoom, type Room } from '../../../live/server/room.ts';

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
const play: LiveState['play'] = { is: 'ready', trouble: null };
let state: LiveState;
let changes: number;
let room: Room;

beforeEach(() => {
  state = { play, controls: null, views: [] };
  changes = 0;
  room = createRoom({ questions, read: () => state, onChange: () => (changes += 1) });
});

const votes = (view = room.forPresenter()) => view.question?.answers.map(({ votes }) => votes);
const ended = (reason: string): StackView => ({
  ...cell,
  title: 'Stage 4 · ttl',
  parts: [],
  lines: [],
  nodes: [],
  hasLock: true,
  lock: null,
  stock: null,
  figures: null,
  story: [],
  timeline: null,
  verdict: { verdict: 'fail', taught: 'fail', reasons: [reason, 'And more.'], witnesses: [] },
});

describe('a question', () => {
  test('is asked, voted on, closed, revealed and forgotten', () => {
    expect(room.forPresenter()).toEqual({
      question: null,
      followers: 0,
      address: null,
      askable: { '4-ttl': ['slow-holder'] },
    });

    room.order({ do: 'ask', ...cell });
    expect(room.forFollowers().question).toEqual({
      number: 1,
      ...cell,
      text: 'What happens to the others?',
      is: 'open',
      answers: questions['4-ttl']?.[0]?.answers.map(({ text }) => ({
        text,
        votes: null,
        isRight: null,
        because: null,
      })),
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
    room.order({ do: 'ask', ...cell });
    room.order({ do: 'predict', answer: 2 });
    room.vote(id, { question: 1, answer: 1 });

    const open = JSON.stringify(room.forFollowers());
    expect(room.forFollowers().question).toMatchObject({ voted: 1, prediction: null });
    expect(votes(room.forFollowers())).toEqual([null, null, null]);
    for (const secret of ['Something does', 'next holder', '"isRight":true', '"isRight":false']) {
      expect(open).not.toContain(secret);
      expect(JSON.stringify(room.forPresenter())).not.toContain(secret);
    }
    expect(room.forPresenter().question?.prediction).toBe(2);

    room.order({ do: 'close-votes' });
    expect(room.forFollowers().question).toMatchObject({ prediction: 2 });
    expect(votes(room.forFollowers())).toEqual([0, 1, 0]);
  });

  test('a drill that begins closes the votes', () => {
    room.drillBegins();
    expect(room.forPresenter().question).toBeNull();
    room.order({ do: 'ask', ...cell });
    room.drillBegins();
    expect(room.forPresenter().question?.is).toBe('closed');
    room.order({ do: 'reveal' });
    room.drillBegins();
    expect(room.forPresenter().question?.is).toBe('revealed');
  });

  test.each([
    ['about a drill that has none', { do: 'ask', stage: '4-ttl', drill: 'rush' }, 'NO_QUESTION'],
    ['about no stage', { do: 'ask', stage: '__proto__', drill: 'rush' }, 'NO_QUESTION'],
    ['that is to be closed, and is not asked', { do: 'close-votes' }, 'NOTHING_ASKED'],
    ['that is to be revealed, and is not asked', { do: 'reveal' }, 'NOTHING_ASKED'],
    ['that is to be forgotten, and is not asked', { do: 'forget' }, 'NOTHING_ASKED'],
    ['that is predicted, and is not asked', { do: 'predict', answer: 0 }, 'NOTHING_ASKED'],
  ] as const)('%s: is refused', (_which, order, code) => {
    expect(() => room.order(order)).toThrow(expect.objectContaining({ code }));
    expect(changes).toBe(0);
  });

  test('what happened is what the drill gave after it was asked about, and stays when the next one is played', () => {
    state.views = [ended('Two met yesterday.')];
    room.order({ do: 'ask', ...cell });
    room.order({ do: 'reveal' });
    const happened = () => room.forFollowers().question?.outcome?.happened;
    expect(happened()).toEqual({ verdict: 'fail', sentence: 'Two met yesterday. And more.' });

    state.views = [{ ...ended(''), verdict: null }];
    room.forFollowers();
    state.views = [ended('Two met today.')];
    expect(happened()?.sentence).toBe('Two met today. And more.');

    state.views = [{ ...ended(''), drill: 'rush' }];
    expect(happened()?.sentence).toBe('Two met today. And more.');
  });
});

describe('a vote', () => {
  test('may be changed while votes are taken, and counts once', () => {
    const id = room.join();
    room.order({ do: 'ask', ...cell });
    room.vote(id, { question: 1, answer: 0 });
    room.vote(id, { question: 1, answer: 1 });

    expect([votes(), room.forPresenter().question?.voted]).toEqual([[0, 1, 0], 1]);
  });

  test.each([
    ['that nobody was asked for', [], 'NOTHING_ASKED'],
    ['after the votes were closed', [{ do: 'ask', ...cell }, { do: 'close-votes' }], 'VOTES_CLOSED'],
    ['after the answer was shown', [{ do: 'ask', ...cell }, { do: 'reveal' }], 'VOTES_CLOSED'],
    [
      'for the question before',
      [
        { do: 'ask', ...cell },
        { do: 'ask', ...cell },
      ],
      'VOTES_CLOSED',
    ],
  ] as const)('%s: is refused, and counts for nothing', (_which, orders, code) => {
    const id = room.join();
    for (const order of orders) room.order(order);

    expect(() => room.vote(id, { question: 1, answer: 1 })).toThrow(expect.objectContaining({ code }));
    expect(votes()?.some((count) => count !== 0) ?? false).toBe(false);
  });

  test('for an answer that there is not, and by an id that the server did not give: is refused', () => {
    const id = room.join();
    ask();

    expect(() => room.vote(id, { question: 1, answer: 3 })).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
    for (const made of ['', 'made-up', '__proto__']) {
      const byNobody = () => room.vote(made, { question: 1, answer: 1 });
      expect(byNobody).toThrow(expect.objectContaining({ code: 'FOLLOWER_UNKNOWN' }));
    }
    expect(votes()).toEqual([0, 0, 0]);
  });

  test('more than two a second: the others are refused, and a second later it may vote again', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const [id, other] = [room.join(), room.join()];
      ask();
      for (const answer of [0, 1]) room.vote(id, { question: 1, answer });
      const third = () => room.vote(id, { question: 1, answer: 2 });

      for (let flood = 0; flood < 1_000; flood += 1) {
        expect(third).toThrow(expect.objectContaining({ code: 'TOO_MANY_VOTES' }));
      }
      room.vote(other, { question: 1, answer: 0 });
      expect(votes()).toEqual([1, 1, 0]);
      vi.advanceTimersByTime(1_001);
      third();
      expect(votes()).toEqual([1, 0, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  function ask() {
    room.order({ do: 'ask', ...cell });
  }
});

describe('those who follow', () => {
  test('are counted once each, while a stream of theirs is open', () => {
    const [ada, ben] = [room.join(), room.join()];
    expect(room.join(ada)).toBe(ada);
    expect(room.forPresenter().followers).toBe(2);

    room.leave(ada);
    room.leave(ben);
    expect(room.forPresenter().followers).toBe(1);
  });

  test('who come again are who they were, and their vote counts on', () => {
    room.order({ do: 'ask', ...cell });
    const id = room.join();
    room.vote(id, { question: 1, answer: 1 });
    room.leave(id);
    expect(votes()).toEqual([0, 1, 0]);

    expect(room.join(id)).toBe(id);
    room.vote(id, { question: 1, answer: 0 });
    expect(votes()).toEqual([1, 0, 0]);
    expect(room.join('made-up')).not.toBe('made-up');
  });

  test('who open the page again and again: no more than 300 are known, and no more votes count', () => {
    room.order({ do: 'ask', ...cell });
    const stays = room.join();
    room.vote(stays, { question: 1, answer: 0 });
    const made = Array.from({ length: 1_000 }, () => {
      const id = room.join();
      room.vote(id, { question: 1, answer: 1 });
      room.leave(id);
      return id;
    });

    expect(votes()).toEqual([1, 299, 0]);
    expect(made.filter((id) => room.knows(id))).toEqual(made.slice(-299));
    expect(room.knows(stays)).toBe(true);
  });

  test('of whom 300 are there: no other one comes in', () => {
    for (let count = 0; count < 300; count += 1) room.join();

    expect(() => room.join()).toThrow(expect.objectContaining({ code: 'TOO_MANY_FOLLOW' }));
    expect(room.forPresenter().followers).toBe(300);
  });
});

test('the questions of the course can be asked, each of them', () => {
  room = createRoom({ questions: readQuestions(), read: () => state, onChange: () => {} });
  for (const [stage, drills] of Object.entries(room.forPresenter().askable)) {
    for (const drill of drills) {
      room.order({ do: 'ask', stage, drill });
      room.order({ do: 'reveal' });
      const answers = room.forFollowers().question?.answers ?? [];
      expect(answers.filter(({ isRight }) => isRight)).toHaveLength(1);
    }
  }
});

describe('a question that belongs to a step', () => {
  const text = 'Sale 0001 on node-1 holds the lock, and stalls.';

  test('is asked when the drill waits at that step, and the votes are closed when it goes on', () => {
    room.stepWaits({ ...cell, text: 'node-1 is about to sell.' });
    room.stepWaits({ stage: '5-owner-check', drill: 'slow-holder', text });
    room.stepWaits({ stage: '4-ttl', drill: 'crashed-holder', text });
    expect({ question: room.forPresenter().question, changes }).toEqual({ question: null, changes: 0 });

    room.stepWaits({ ...cell, text });
    expect(room.forFollowers().question).toMatchObject({ number: 1, ...cell, is: 'open' });
    expect(changes).toBe(1);
    const id = room.join();
    room.vote(id, { question: 1, answer: 1 });
    room.drillBegins();

    expect(room.forFollowers().question).toMatchObject({ is: 'closed', voted: 1 });
    expect(votes()).toEqual([0, 1, 0]);
  });

  test.each(['open', 'closed', 'revealed'])('is not asked again where it was asked before, and is %s', (is) => {
    room.order({ do: 'ask', ...cell });
    if (is === 'closed') room.drillBegins();
    if (is === 'revealed') room.order({ do: 'reveal' });

    room.stepWaits({ ...cell, text });

    expect(room.forPresenter().question).toMatchObject({ number: 1, is });
  });

  test('takes the place of one about another drill, and is asked again when it was taken away', () => {
    room.stepWaits({ ...cell, text });
    room.order({ do: 'forget' });
    room.stepWaits({ ...cell, text });

    expect(room.forPresenter().question).toMatchObject({ number: 2, is: 'open', voted: 0 });
  });
});

describe('the token of the room', () => {
  const TOKEN = 'k3v-92m-fxp';

  test('a token is short enough to type, has no look-alikes, and is another one each time', () => {
    const tokens = Array.from({ length: 2_000 }, makeFollowerToken);

    expect(tokens.filter((token) => !/^([2-9a-hjkmnp-z]{3}-){2}[2-9a-hjkmnp-z]{3}$/.test(token))).toEqual([]);
    expect(new Set(tokens).size).toBe(2_000);
    const letters = new Set(tokens.join('').replaceAll('-', ''));
    expect(letters.size).toBe(31);
    expect(9 * Math.log2(letters.size)).toBeGreaterThan(40);
  });

  test.each([TOKEN, 'K3V-92M-FXP', 'k3v92mfxp', ' K3v 92m fxp'])('%j is the token', (shown) => {
    expect(createTokenGate(TOKEN).look(shown, false)).toBe('right');
  });

  test.each(['', '-', 'k3v-92m-fx', 'k3v-92m-fxpp', 'k3v-92m-fxq', `${TOKEN}${TOKEN}`])('%j is not', (shown) => {
    expect(createTokenGate(TOKEN).look(shown, false)).toBe('wrong');
  });

  test('20 wrong ones a second are looked at: then nobody who is new gets in, whatever is shown, until it goes on', () => {
    let now = 0;
    const gate = createTokenGate(TOKEN, () => now);
    const guess = (count: number) => gate.look(`guess ${count}`, false);
    const answers = Array.from({ length: 30 }, (_, count) => guess(count));

    expect(answers).toEqual([...Array(20).fill('wrong'), ...Array(10).fill('later')]);
    expect(gate.look(TOKEN, false)).toBe('later');
    expect(gate.look(TOKEN, true)).toBe('right');
    now += 50;
    expect(gate.look(TOKEN, false)).toBe('right');

    now += 3_600_000;
    expect(
      Array.from({ length: 30 }, (_, count) => guess(count + 100)).filter((answer) => answer === 'wrong').length,
    ).toBe(20);
  });

  test('tabs with the token of yesterday, again and again, keep nobody out', () => {
    const gate = createTokenGate(TOKEN, () => 0);

    for (let count = 0; count < 1_000; count += 1) expect(gate.look('old-one-999', false)).toBe('wrong');

    expect(gate.look(TOKEN, false)).toBe('right');
  });
});
