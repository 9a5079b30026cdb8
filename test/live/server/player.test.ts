import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LiveState, Order } from '../../../live/contract.ts';
import { createPlayer } from '../../../live/server/player.ts';
import { createNews } from './news.ts';

// Drills to their verdicts, free play by a player, and what is left of it: test/soak/live/server/player.test.ts.
const news = createNews();
const steps: string[] = [];
const player = createPlayer({
  // Longer than a step takes on a machine that is busy.
  leaseMs: 3_000,
  onChange: news.tell,
  onStep: ({ text }) => steps.push(text),
});
const stateIs = (wanted: LiveState['play']['is']) => news.until(() => player.read().play.is === wanted);
const first = () => player.read().views[0];
const refused = (order: Order) =>
  player.order(order).then(
    () => 'taken',
    (error) => [error.code, error.message],
  );

/** The processes that this one has started, by their ids, in the order of their ids. Only Linux tells. */
function children(program?: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids
    .sort((a, b) => a - b)
    .filter((pid) => {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(statOf(pid)) ?? [];
      return Number(parent) === process.pid && (program === undefined || program === name);
    });
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}

let before: number[] = [];
let atFirst: LiveState;
beforeAll(async () => {
  before = children();
  await player.open();
  atFirst = player.read();
});
beforeEach(async () => {
  steps.length = 0;
  await player.order({ do: 'stop' }).catch(() => {});
  await player.ended();
});
afterAll(async () => {
  await player.close();
  expect(player.read()).toMatchObject({ play: { is: 'over' }, controls: null });
  expect(player.read().views).toHaveLength(1);
});

describe('before anything is played', () => {
  test('a stack is there to be seen, and nothing can be gone on with', async () => {
    const [view] = atFirst.views;
    expect(atFirst.play).toEqual({ is: 'ready', trouble: null });
    expect(view).toMatchObject({ stage: '1-in-process', drill: null, story: [], verdict: null });
    expect(view?.parts).toEqual(
      expect.arrayContaining(['node-1', 'node-2'].map((name) => ({ name, kind: 'node', is: 'up' }))),
    );
    expect(await refused({ do: 'next' })).toEqual(['NOTHING_PLAYED', 'No drill is being played.']);
    expect(await refused({ do: 'act', act: 'kill', at: 'node-1' })).toEqual(['NOT_FREE', 'Begin free play first.']);
  });

  test.each<[string, Extract<Order, { do: 'play' }>, RegExp]>([
    [
      'a stage that there is not',
      { do: 'play', stage: '9-magic', drill: 'rush', isStepwise: false },
      /no stage 9-magic/,
    ],
    ['a drill that there is not', { do: 'play', stage: '4-ttl', drill: 'hope', isStepwise: false }, /no drill hope/],
    [
      'a drill that can break nothing',
      { do: 'play', stage: '4-ttl', drill: 'amnesia', isStepwise: false },
      /no drill amnesia/,
    ],
  ])('%s is refused', async (_which, order, says) => {
    expect(await refused(order)).toEqual(['BAD_REQUEST', expect.stringMatching(says)]);
    expect(player.read().play.is).toBe('ready');
  });
});

describe('a drill', () => {
  test('as it happens: its story, its timeline, and the verdict of npm run drill; nothing else meanwhile', async () => {
    await player.order({ do: 'play', stage: '7-reentrant', drill: 'nested-call', isStepwise: false });
    expect(await refused({ do: 'play', stage: '4-ttl', drill: 'rush', isStepwise: false })).toEqual([
      'BUSY',
      'Something else is under way: stop it first.',
    ]);
    await player.ended();

    const view = first();
    expect(view).toMatchObject({ stage: '7-reentrant', title: 'Stage 7 · reentrant', drill: 'nested-call' });
    expect(view?.verdict).toMatchObject({ verdict: 'pass', taught: 'pass' });
    expect(view?.story.map(({ text }) => text).join(' ')).toMatch(/by another lock object/);
    expect(view?.timeline?.faults.map(({ label }) => label)).toContain('asks again by the same object');
    expect(player.read().play).toEqual({ is: 'ready', trouble: null });
    expect(steps).toEqual([]);
  });

  test('step by step: it waits at a step, goes on, and is stopped: the stack is put back', async () => {
    await player.order({ do: 'play', stage: '5-owner-check', drill: 'late-release', isStepwise: true });
    await stateIs('waiting');
    const step = 'Its release is held up on the line to Redis.';
    expect(steps).toEqual([step]);
    expect(first()?.story.at(-1)).toMatchObject({ text: step, isStep: true, waitedUntilMs: null });
    expect(first()?.lines).toContainEqual({ from: 'node-1', to: 'redis', is: 'cut', held: 'DEL' });

    await player.order({ do: 'next' });
    await news.until(() => first()?.story.some(({ text }) => text === 'node-2 asks for the lock.') === true);
    expect(first()?.story.find(({ text }) => text === step)?.waitedUntilMs).toEqual(expect.any(Number));
    await player.order({ do: 'stop' });
    await player.ended();

    expect(player.read().play).toEqual({ is: 'ready', trouble: 'The drill was stopped.' });
    expect(first()?.verdict).toBeNull();
    expect(first()?.parts.every(({ is }) => is === 'up')).toBe(true);
    expect(first()?.lines.every(({ is, held }) => is === 'open' && held === undefined)).toBe(true);
  });

  test.skipIf(process.platform !== 'linux')(
    'a part dies that no drill killed: the page is told, and what is played next gets a new stack',
    async () => {
      await player.order({ do: 'free', stage: '8-auto-renew' });
      await stateIs('free');
      process.kill(children('redis-server').findLast((pid) => !before.includes(pid)) ?? Number.NaN, 'SIGKILL');
      await player.ended();
      expect(player.read().play).toMatchObject({ is: 'ready', trouble: expect.stringMatching(/redis/i) });

      await player.order({ do: 'free', stage: '8-auto-renew' });
      await stateIs('free');
      await player.order({ do: 'act', act: 'sell', at: 'node-1' });
      await news.until(() => first()?.figures?.sold === 1);
      await player.order({ do: 'stop' });
      await player.ended();
      expect(player.read()).toMatchObject({ play: { is: 'ready', trouble: null }, controls: null });
    },
  );
});
