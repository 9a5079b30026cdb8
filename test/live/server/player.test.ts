import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LiveState, Order } from '../../../live/contract.ts';
import { createPlayer } from '../../../live/server/player.ts';
import { createNews } from './news.ts';

const news = createNews();
const steps: string[] = [];
const player = createPlayer({
  // Longer than a step takes on a machine that is busy.
  leaseMs: 3_000,
  onChange: news.tell,
  onStep: ({ text }) => steps.push(text),
});
const first = () => player.read().views[0];
const refused = (order: Order) =>
  player.order(order).then(
    () => 'taken',
    (error) => [error.code, error.message],
  );

let atFirst: LiveState;
beforeAll(async () => {
  await player.open();
  atFirst = player.read();
});
beforeEach(() => void steps.splice(0));
afterAll(async () => {
  await player.close();
  expect(player.read()).toMatchObject({ play: { is: 'over' }, controls: null });
});

test('player: before anything is played, a stack is there to be seen, and nothing can be gone on with', async () => {
  const [view] = atFirst.views;
  expect(atFirst.play).toEqual({ is: 'ready', trouble: null });
  expect(view).toMatchObject({ stage: '1-in-process', drill: null, story: [], verdict: null });
  expect(view?.parts).toContainEqual({ name: 'node-2', kind: 'node', is: 'up' });
  await news.until(() => first()?.stock?.actual === 5_000 && first()?.stock?.expected === 5_000);
  expect(await refused({ do: 'next' })).toEqual(['NOTHING_PLAYED', 'No drill is being played.']);
  expect(await refused({ do: 'act', act: 'kill', at: 'node-1' })).toEqual(['NOT_FREE', 'Begin free play first.']);
});

test.each([
  ['9-magic', 'rush', /no stage 9-magic/],
  ['4-ttl', 'hope', /no drill hope/],
  ['4-ttl', 'amnesia', /no drill amnesia/],
])('player: %s, %s is refused, as there is nothing to break', async (stage, drill, says) => {
  const refusal = await refused({ do: 'play', stage, drill, isStepwise: false });

  expect(refusal).toEqual(['BAD_REQUEST', expect.stringMatching(says)]);
  expect(player.read().play.is).toBe('ready');
});

test('player: a drill as it happens: its story, its timeline, and the verdict of npm run drill; nothing else meanwhile', async () => {
  await player.order({ do: 'play', stage: '7-reentrant', drill: 'nested-call', isStepwise: false });
  const busy = ['BUSY', 'Something else is under way: stop it first.'];
  expect(await refused({ do: 'play', stage: '4-ttl', drill: 'rush', isStepwise: false })).toEqual(busy);
  await player.ended();

  const view = first();
  expect(view).toMatchObject({ stage: '7-reentrant', title: 'Stage 7 · reentrant', drill: 'nested-call' });
  expect(view?.verdict).toMatchObject({ verdict: 'pass', taught: 'pass' });
  expect(view?.story.map(({ text }) => text).join(' ')).toMatch(/by another lock object/);
  expect(view?.timeline?.faults.map(({ label }) => label)).toContain('asks again');
  expect(player.read().play).toEqual({ is: 'ready', trouble: null });
  expect(steps).toEqual([]);
});

test('player: step by step it waits at a step, goes on, and is stopped: the stack is put back', async () => {
  await player.order({ do: 'play', stage: '5-owner-check', drill: 'late-release', isStepwise: true });
  await news.until(() => player.read().play.is === 'waiting');
  const step = 'A goes on, and its release is held up on the line to Redis.';
  expect(steps).toEqual([step]);
  expect(first()?.story.at(-1)).toMatchObject({ text: step, isStep: true, waitedUntilMs: null });
  expect(first()?.lines).toContainEqual({ from: 'node-1', to: 'redis', is: 'cut', held: 'DEL' });

  await player.order({ do: 'next' });
  await news.until(() => first()?.story.some(({ text }) => text.startsWith('B sells at node-2')) === true);
  expect(first()?.story.find(({ text }) => text === step)?.waitedUntilMs).toEqual(expect.any(Number));
  await player.order({ do: 'stop' });
  await player.ended();

  expect(player.read().play).toEqual({ is: 'ready', trouble: 'The drill was stopped.' });
  expect(first()?.verdict).toBeNull();
  expect(first()?.parts.filter(({ is }) => is !== 'up')).toEqual([]);
  expect(first()?.lines.filter(({ is, held }) => is !== 'open' || held !== undefined)).toEqual([]);
});
