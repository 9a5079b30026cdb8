import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { listedIn, listedModules as modules } from '../../simulation/lacking.ts';
import nodeExports from '../../simulation/node-exports.json' with { type: 'json' };
import { namesIn } from '../../simulation/own-module.ts';
import { ownPlatform } from './own-platform.ts';

const realOf = (module: string) => process.getBuiltinModule(module) as Record<string, unknown>;
/** A process that runs the tests may have been started by another. */
const ofChildren = ['send', 'disconnect', 'connected', 'channel'];
const exportsOf = (module: string) =>
  namesIn(realOf(module)).filter(
    (name) => !name.startsWith('_') && !(module === 'process' && ofChildren.includes(name)),
  );

describe('platform: what Node exports', () => {
  // Another version of the same Node may have more.
  test.runIf(nodeExports.nodes.includes(process.version))('the list has all that this Node exports', () => {
    for (const module of modules) {
      const unlisted = exportsOf(module).filter((name) => !listedIn(module).includes(name));
      expect({ module, unlisted }).toEqual({ module, unlisted: [] });
    }
  });

  test.each(modules)('%s: each export is there; of what this Node lacks each use is noted by its name', (module) => {
    for (const name of new Set([...listedIn(module), ...exportsOf(module)])) {
      const { moduleOf, platform } = ownPlatform();
      const exported = moduleOf(module)[name];
      if (name in realOf(module)) {
        expect({ name, is: typeof exported }).toEqual({ name, is: typeof realOf(module)[name] });
        continue;
      }
      expect(exported, name).toThrow();
      expect(platform.lacking()).toBe(`${module}.${name}()`);
    }
  });

  test.each(['http', 'child_process', 'net', 'fs', 'dns/promises'])(
    '%s: what reaches out is noted, and throws',
    (module) => {
      const { moduleOf, platform } = ownPlatform();
      const names = Object.keys(moduleOf(module)).filter((name) =>
        /^(request|exec|Socket|writeFileSync|resolve4)$/.test(name),
      );
      expect(names.length).toBe(1);

      expect(moduleOf(module)[names[0] ?? '']).toThrow();
      expect(platform.lacking()).toBe(`${module}.${names[0]}()`);
    },
  );

  test('one module is the same wherever it is found', () => {
    const { moduleOf, platform } = ownPlatform();
    expect(moduleOf('fs')['promises']).toBe(moduleOf('fs/promises'));
    for (const member of ['writeFile', 'constants']) expect(moduleOf('fs')[member]).toBe(moduleOf('fs')[member]);
    expect(moduleOf('events')['EventEmitter']).toBe(moduleOf('events'));
    expect(moduleOf('process')).toBe(platform.globals['process']);
    expect(platform.globals['globalThis']).toBe(platform.globals);
    const Emitter = moduleOf('events') as unknown as typeof EventEmitter;
    expect(new (class extends Emitter {})()).toBeInstanceOf(EventEmitter);
  });
});

describe('platform: what a process writes stays its own', () => {
  type Owned = (of: ReturnType<typeof ownPlatform>) => Record<string, unknown>;
  const owned: [name: string, real: object, owned: Owned][] = [
    ...modules.map((module): [string, object, Owned] => [module, realOf(module), ({ moduleOf }) => moduleOf(module)]),
    ['globalThis', globalThis, ({ platform }) => platform.globals],
    ['Math', Math, ({ platform }) => platform.globals['Math'] as Record<string, unknown>],
    ['AbortSignal', AbortSignal, ({ platform }) => platform.globals['AbortSignal'] as Record<string, unknown>],
  ];

  test.each(owned)('%s', (_name, real, of) => {
    const before = Object.getOwnPropertyDescriptors(real);
    for (const process of ['node-1', 'node-2']) {
      const own = of(ownPlatform(process));
      const [first = '', second = '', third = ''] = namesIn(real).filter(
        (name) => !/^(globalThis|global|undefined|NaN|Infinity)$/.test(name),
      );
      own[first] = process;
      Object.defineProperty(own, second, { value: process });
      Object.defineProperty(own, 'more', { value: process, configurable: false });
      if (third) delete own[third];
      Object.setPrototypeOf(own, null);
      Object.preventExtensions(own);

      expect([own[first], own[second || first], own['more']]).toEqual([process, process, process]);
      expect(third in own && third !== '').toBe(false);
    }
    expect(Object.getOwnPropertyDescriptors(real)).toEqual(before);
    expect(Object.isExtensible(real)).toBe(true);
  });
});

describe('platform: time', () => {
  /** Lets the timer fire that is due next. */
  function tick({ world }: ReturnType<typeof ownPlatform>) {
    const timer = world.nextTimer();
    if (timer === undefined) throw new Error('There is no timer.');
    world.begin({ type: 'begins', at: timer.due, chance: 0 });
    world.fire(timer.id);
  }

  test('setInterval of timers/promises gives its value each time, and ends with its signal', async () => {
    const own = ownPlatform();
    const { setInterval } = own.moduleOf('timers/promises') as unknown as typeof import('node:timers/promises');
    const over = new AbortController();
    const ticks = setInterval(10, 'tick', { signal: over.signal });
    const first = ticks.next();
    tick(own);
    await expect(first).resolves.toEqual({ done: false, value: 'tick' });
    // Nobody has asked for these two.
    tick(own);
    tick(own);
    await ticks.next();
    await expect(ticks.next()).resolves.toEqual({ done: false, value: 'tick' });
    const last = ticks.next();
    over.abort('over');

    await expect(last).rejects.toMatchObject({ name: 'AbortError', cause: 'over' });
    expect(own.world.timers()).toEqual([]);
  });

  test('who leaves the loop over setInterval leaves no timer', async () => {
    const own = ownPlatform();
    const { setInterval } = own.moduleOf('timers/promises') as unknown as typeof import('node:timers/promises');
    const loop = (async () => {
      for await (const value of setInterval(10, 'tick')) return value;
    })();
    tick(own);

    await expect(loop).resolves.toBe('tick');
    expect(own.world.timers()).toEqual([]);
  });

  test('scheduler.wait ends with its signal', async () => {
    const { scheduler } = ownPlatform().moduleOf('timers/promises') as unknown as typeof import('node:timers/promises');
    await expect(scheduler.wait(10, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  });
});

test('platform: a process has the hostname that it is given', () => {
  const os = ownPlatform('node-1', { hostname: 'container' }).moduleOf('os') as unknown as typeof import('node:os');
  expect(os.hostname()).toBe('container');
});

test('platform: what is random is the same in each playing, and differs between two processes', () => {
  const drawn = (name: string) => {
    const { moduleOf } = ownPlatform(name);
    const crypto = moduleOf('crypto') as unknown as typeof import('node:crypto');
    return [
      crypto.randomUUID(),
      crypto.randomInt(1_000),
      crypto.randomInt(5, 1_000),
      crypto.randomFillSync(Buffer.alloc(3), 1),
    ];
  };
  expect(drawn('node-1')).toEqual(drawn('node-1'));
  expect(drawn('node-1').filter((each) => drawn('node-2').includes(each))).toEqual([]);
  expect(drawn('node-1')[3]?.[0 as never]).toBe(0);
});
