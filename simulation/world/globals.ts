// The globals of a process: time and random numbers come from its world, and what that does not have is refused.

import { createLuck } from '../luck.ts';
import { namesIn, ownVersion } from '../own-module.ts';
import type { Moment } from './moment.ts';
import type { Timers } from './timers.ts';

/** The globals that a world replaces. */
export const replacedGlobals = [
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'],
  ...['performance', 'Math', 'AbortSignal', 'crypto'],
];

/** How far apart two numbers of the same luck are at most: too little to change for how many milliseconds somebody waits. */
const APART = 1e-4;

export type Draws = ReturnType<typeof createDraws>;

/**
 * What `Math.random()` gives the process of this name: a row of numbers that no other process has, but for the first of each moment. With a
 * seed it is the row of that seed.
 */
export function createDraws(name: string, seed?: string) {
  let chance = 0;
  /** How many numbers were drawn since something happened last. */
  let draws = 0;
  const ownLuck = createLuck(
    [...(seed ?? name)].reduce((sum, letter) => Math.imul(sum + letter.charCodeAt(0), 2_654_435_761), 0),
  );
  return {
    begin(next: number) {
      chance = next;
      draws = 0;
    },
    random() {
      draws += 1;
      const own = ownLuck();
      return draws === 1 && seed === undefined ? (chance + own * APART) % 1 : own;
    },
    wereMade: () => draws > 0,
  };
}

export function createGlobals(
  moment: Moment,
  timers: Timers,
  draws: Draws,
  uuid: () => string,
): Record<string, unknown> {
  /** An object of which only these members are there; any other is refused. */
  const only = (what: string, members: object) =>
    new Proxy(members, {
      get: (target, member) =>
        Reflect.has(target, member) ? Reflect.get(target, member) : moment.refuse(`${what}.${String(member)}`),
    });
  function timeoutSignal(ms: number): AbortSignal {
    const over = new AbortController();
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    timers.setTimeout(() => over.abort(reason), ms);
    return over.signal;
  }
  return {
    setTimeout: timers.setTimeout,
    setInterval: timers.setInterval,
    setImmediate: timers.setImmediate,
    clearTimeout: timers.clear,
    clearInterval: timers.clear,
    clearImmediate: timers.clear,
    performance: only('performance', { now: () => moment.now }),
    Math: Object.assign(Object.create(Math), { random: draws.random }),
    AbortSignal: ownVersion(AbortSignal, namesIn(AbortSignal), (name) => ({
      value: name === 'timeout' ? timeoutSignal : Reflect.get(AbortSignal, name),
    })),
    crypto: only('crypto', { randomUUID: uuid }),
  };
}

/** A global whose every use is refused. */
export const refusing = (what: string, { refuse }: Moment) =>
  new Proxy(function refused() {}, {
    get: (_target, member) => refuse(`${what}.${String(member)}`),
    apply: () => refuse(`${what}()`),
    construct: () => refuse(`new ${what}()`),
  });
