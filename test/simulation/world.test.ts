import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { createWorld } from '../../simulation/world.ts';

interface TimerObject {
  id: number;
  unref(): TimerObject;
}

/** A world whose clock a test sets. */
function ownWorld() {
  const world = createWorld('A', 1);
  const begin = (at: number, chance = 0) => world.begin({ at, chance, type: 'begins' });
  begin(0);
  const { setTimeout, clearTimeout } = world.globals as {
    setTimeout: (fire: () => void, ms?: number) => TimerObject;
    clearTimeout: (timer?: TimerObject | number) => void;
  };
  const dues = () => world.timers().map(({ due }) => due);
  return { world, begin, setTimeout, clearTimeout, dues };
}

describe('world: timers', () => {
  test('a timer that is cleared, by its object or its number, is gone; one that keeps no process alive fires', () => {
    const { setTimeout, clearTimeout, dues } = ownWorld();
    clearTimeout(setTimeout(() => {}, 10));
    clearTimeout(setTimeout(() => {}, 20).id);
    clearTimeout(undefined);
    setTimeout(() => {}, 30).unref();

    expect(dues()).toEqual([30]);
  });

  test.each([
    ['setTimeout without a time', undefined, 1],
    ['of 0 ms', 0, 1],
    ['of a fraction', 7.9, 7],
    ['of what is no number', Number.NaN, 1],
    ['of less than 0', -5, 1],
  ])('as Node: %s', (_what, ms, due) => {
    const { setTimeout, dues } = ownWorld();
    setTimeout(() => {}, ms);

    expect(dues()).toEqual([due]);
  });

  test('a sleep ends with its timer, or with its signal', async () => {
    const { world, begin, dues } = ownWorld();
    const leaving = new AbortController();
    const slept = world.sleep(100, 'slept');
    const aborted = world.sleep(200, undefined, { signal: leaving.signal });
    const late = world.sleep(300, undefined, { signal: AbortSignal.abort() });

    begin(100);
    for (const { id, due } of world.timers()) if (due === 100) world.fire(id);
    leaving.abort('it leaves');

    await expect(slept).resolves.toBe('slept');
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause: 'it leaves' });
    await expect(late).rejects.toMatchObject({ name: 'AbortError' });
    expect(dues()).toEqual([]);
  });
});

describe('world: the Redis client', () => {
  test('a list is sent as its items; HGETALL answers with an object', async () => {
    const { world } = ownWorld();
    const deleted = world.redis.del(['a', 'b']);
    const all = world.redis.hgetall('hash');
    expect(world.pending().map(({ command }) => command)).toEqual([
      ['DEL', 'a', 'b'],
      ['HGETALL', 'hash'],
    ]);
    for (const [at, { id }] of world.pending().entries()) world.reply(id, [2, ['A:1', '1', 'B:1', '2']][at] as never);

    await expect(deleted).resolves.toBe(2);
    await expect(all).resolves.toEqual({ 'A:1': '1', 'B:1': '2' });
  });

  test('a connection that listens is a line of its own; it hears what its process is told', async () => {
    const { world } = ownWorld();
    const heard: unknown[] = [];
    const listener = (world.redis as Redis).duplicate();
    listener.on('message', (...message) => heard.push(message));
    world.redis.on('message', () => heard.push('on the wrong connection'));
    void listener.subscribe('news');

    world.hear('news', 'first');

    expect(world.pending()).toMatchObject([{ line: 'messages', command: ['SUBSCRIBE', 'news'] }]);
    expect(heard).toEqual([['news', 'first']]);
  });
});

test('world: AbortSignal.timeout() goes by its timers, and its other members are there', () => {
  const { world, begin, dues } = ownWorld();
  const signals = world.globals['AbortSignal'] as typeof AbortSignal;
  const any = signals.any([new AbortController().signal, signals.timeout(5)]);
  expect([dues(), any.aborted]).toEqual([[5], false]);

  begin(5);
  for (const { id } of world.timers()) world.fire(id);

  expect([any.aborted, any.reason.name]).toEqual([true, 'TimeoutError']);
  expect(any).toBeInstanceOf(signals);
});
