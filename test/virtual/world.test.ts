import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { createWorld, type WorldOptions } from '../../virtual/world.ts';

type Fire = (...args: unknown[]) => void;
interface TimerObject {
  id: number;
  unref(): TimerObject;
}

/** A world whose clock a test sets. */
function ownWorld(options: WorldOptions = {}) {
  const world = createWorld('A', 1, options);
  const begin = (at: number, chance = 0) => world.begin({ at, chance, type: 'begins' });
  begin(0);
  const { setTimeout, setInterval, setImmediate, clearTimeout } = world.globals as {
    setTimeout: (fire: Fire, ms?: number, ...args: unknown[]) => TimerObject;
    setInterval: (fire: Fire, ms?: number) => TimerObject;
    setImmediate: (fire: Fire) => TimerObject;
    clearTimeout: (timer?: TimerObject | number) => void;
  };
  const dues = () => world.timers().map(({ due }) => due);
  return { world, begin, setTimeout, setInterval, setImmediate, clearTimeout, dues };
}

describe('world: timers', () => {
  test('a timer fires once, with what it was given', () => {
    const { world, begin, setTimeout, dues } = ownWorld();
    const fired: unknown[] = [];
    const { id } = setTimeout((...args) => fired.push(args), 20, 'a', 1);

    expect(dues()).toEqual([20]);
    begin(25);
    world.fire(id);
    world.fire(id);

    expect(fired).toEqual([['a', 1]]);
    expect(dues()).toEqual([]);
  });

  test('an interval fires again, counted from when it fired', () => {
    const { world, begin, setInterval, dues } = ownWorld();
    let times = 0;
    const { id } = setInterval(() => (times += 1), 300);

    begin(300);
    world.fire(id);
    expect(dues()).toEqual([600]);
    begin(650);
    world.fire(id);

    expect([times, dues()]).toEqual([2, [950]]);
  });

  test('a timer that is cleared, by its object or its number, is gone; so is one that keeps no process alive', () => {
    const { setTimeout, clearTimeout, dues } = ownWorld();
    clearTimeout(setTimeout(() => {}, 10));
    clearTimeout(setTimeout(() => {}, 20).id);
    clearTimeout(undefined);
    setTimeout(() => {}, 30).unref();

    expect(dues()).toEqual([]);
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

describe('world: luck and clock', () => {
  test('performance.now() is when something happened to the process', () => {
    const { world, begin } = ownWorld();
    const { now } = world.globals.performance as typeof performance;

    begin(1_234);

    expect(now()).toBe(1_234);
  });

  test('Math.random() is the luck of the moment, and it is told whether it was used', () => {
    const { world, begin } = ownWorld();
    const math = world.globals.Math as Math;
    begin(0, 0.9);

    expect([math.max(1, 2), world.hasUsedChance()]).toEqual([2, false]);
    expect([math.random(), math.random(), world.hasUsedChance()]).toEqual([0.9, 0.9, true]);
    begin(1, 0.1);
    expect(world.hasUsedChance()).toBe(false);
  });

  test('no two processes make the same identifier, nor does one make it twice', () => {
    const [one, other] = [createWorld('A', 1), createWorld('B', 1)];

    expect(new Set([one.uuid(), one.uuid(), other.uuid(), other.uuid()]).size).toBe(4);
    expect(createWorld('A', 1).uuid()).toBe(createWorld('A', 1).uuid());
  });
});

describe('world: the Redis client', () => {
  test('a command waits until it is answered', async () => {
    const { world } = ownWorld();
    const answer = world.redis.set('key', 'value', 'PX', 900, 'NX');

    expect(world.pending()).toEqual([
      { id: expect.any(Number), server: 0, line: 'commands', command: ['SET', 'key', 'value', 'PX', 900, 'NX'] },
    ]);
    world.reply(world.pending()[0]?.id ?? 0, 'OK');

    await expect(answer).resolves.toBe('OK');
    expect(world.pending()).toEqual([]);
  });

  test('what ioredis does not have is not there, until it is defined', () => {
    const redis = ownWorld().world.redis as unknown as Record<string, unknown> & Redis;
    expect([typeof redis['get'], typeof redis['releaseIfMine']]).toEqual(['function', 'undefined']);

    redis.defineCommand('releaseIfMine', { lua: 'return 1', numberOfKeys: 1 });

    expect(typeof redis['releaseIfMine']).toBe('function');
  });

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

  test('a command that the client has no method for is sent by its name', () => {
    const { world } = ownWorld();
    void world.redis.call('delifeq', 'key', 'value');

    expect(world.pending().map(({ command }) => command)).toEqual([['DELIFEQ', 'key', 'value']]);
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
