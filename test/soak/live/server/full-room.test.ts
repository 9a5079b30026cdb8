import { expect, onTestFinished, test } from 'vitest';
import type { LiveState } from '../../../../live/contract.ts';
import { readQuestions } from '../../../../live/questions.ts';
import { createRoom } from '../../../../live/server/room.ts';
import { shareRoom } from '../../../../live/server/share.ts';
import { ask, type Following, follow, problemOf, roomIn } from '../../../live/server/listener-under-test.ts';
import { createNews } from '../../../live/server/news.ts';

const state: LiveState = { play: { is: 'ready', trouble: null }, controls: null, views: [] };

test('a full room: 200 vote at once, every vote counts and all see the bars; 250 may follow, and no more', async () => {
  const bugs: unknown[] = [];
  const news = createNews();
  let shared: Awaited<ReturnType<typeof shareRoom>> | undefined;
  const onChange = () => {
    shared?.changed();
    news.tell();
  };
  const room = createRoom({ questions: readQuestions(), read: () => state, onChange });
  const onBug = (error: unknown) => bugs.push(error);
  const addresses = ['127.0.0.1'];
  shared = await shareRoom({ files: {}, choices: [], read: () => state, room, port: 0, onBug, addresses });
  onTestFinished(shared.close);
  const { token } = shared;
  const port = Number(new URL(shared.addresses[0] ?? '').port);
  const join = () => follow(port, `/stream?token=${token}`, news);
  const vote = ({ id }: Following, place: number) =>
    ask(port, '/vote', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'follower-id': id },
      body: JSON.stringify({ question: 1, answer: [0, 1, 1, 2, 3, 3, 3, 3][place % 8] }),
    });

  room.order({ do: 'ask', stage: '4-ttl', drill: 'slow-holder' });
  const followers = await Promise.all(Array.from({ length: 200 }, join));
  const answers = await Promise.all(followers.map(vote));
  expect(answers.filter(({ status }) => status !== 204)).toEqual([]);
  room.order({ do: 'reveal' });
  const questions = () => followers.map(({ messages }) => roomIn(messages)?.question);
  await news.until(() => questions().every((question) => question?.is === 'revealed'));
  for (const question of questions()) expect(question?.answers.map(({ votes }) => votes)).toEqual([25, 50, 25, 100]);

  followers.push(...(await Promise.all(Array.from({ length: 50 }, join))));
  expect(problemOf(await ask(port, `/stream?token=${token}`))).toEqual([503, 'TOO_MANY_FOLLOW']);
  followers[0]?.hangUp();
  await news.until(() => room.forPresenter().followers === 249);
  expect((await join()).id).not.toBe('');
  for (const { hangUp } of followers) hangUp();
  expect(bugs).toEqual([]);
});
