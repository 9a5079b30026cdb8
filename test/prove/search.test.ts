import { describe, expect, test } from 'vitest';
import { proveCell } from '../../prove/cell.ts';
import { itsKey } from '../../prove/lock-keys.ts';
import { violated, violatedAtEnd } from '../../prove/properties.ts';
import type { Scope } from '../../prove/scopes.ts';
import { search } from '../../prove/search.ts';
import { openServer } from '../../prove/server.ts';
import type { State } from '../../prove/state.ts';
import {
  fileOf,
  lasting,
  movesUnder,
  open,
  optionsOf,
  scopeNamed,
  searchIn,
  sharedServer,
  task,
  writeLock,
} from './own-locks.ts';

/** Walks through every order of events, one after the other, and remembers no state. */
async function walkAll(stage: string, scopeName: string, mostSteps = Number.POSITIVE_INFINITY) {
  const scope = scopeNamed(scopeName);
  const { begin, movesFrom, leaseEndOf } = await movesUnder(fileOf(stage), scope);
  const server = await sharedServer();
  let orders = 0;
  let shortest = Number.POSITIVE_INFINITY;

  async function walk(state: State, steps: number) {
    const { moves, isCut } = await movesFrom(state);
    if (moves.length === 0 && !isCut) {
      orders += 1;
      if (violatedAtEnd(state, scope, server, itsKey)) shortest = Math.min(shortest, steps);
    }
    if (steps === mostSteps) return;
    for (const { state: made, touches } of moves) {
      if (violated(made, scope, { leaseEndOf, server, lock: itsKey }, touches))
        shortest = Math.min(shortest, steps + 1);
      else await walk(made, steps + 1);
    }
  }

  await walk(begin(), 0);
  return { orders, shortest };
}

describe('search: against a walk through every order that remembers no state', () => {
  test.each([
    ['2-recursive-retry', 'plain'],
    ['5-owner-check', 'plain'],
    ['7-reentrant', 'nested-call'],
    ['4-ttl', 'client-gone'],
  ])('%s, %s: it counts as many orders, and finds as little', async (stage, scope) => {
    const { verdict, schedules, cut } = await searchIn(fileOf(stage), scope);

    expect({ verdict, cut }).toEqual({ verdict: 'holds', cut: 0 });
    expect(await walkAll(stage, scope)).toEqual({ orders: schedules, shortest: Number.POSITIVE_INFINITY });
  });

  test.each([
    ['0-none', 'plain'],
    ['4-ttl', 'long-sale'],
    ['5-owner-check', 'late-release'],
    ['6-lua-release', 'nested-call'],
    ['7-reentrant', 'crossed-write'],
  ])('%s, %s: no counterexample is shorter', async (stage, scope) => {
    const { verdict, counterexample = [] } = await searchIn(fileOf(stage), scope);

    expect(verdict).toBe('fails');
    expect((await walkAll(stage, scope, counterexample.length)).shortest).toBe(counterexample.length);
  });
});

describe('search: the same cell twice', () => {
  test('the same verdict, states, orders and counterexample', async () => {
    const cell = task('8-auto-renew', 'late-write');
    const first = await proveCell(cell);
    await searchIn(fileOf('4-ttl'), 'late-release');

    expect(lasting(await proveCell(cell))).toEqual(lasting(first));
  });

  test('on a server that knows other locks, and on one that knows none', async () => {
    const options = optionsOf(scopeNamed('late-release'));
    const openLock = await open(fileOf('fenced'));

    const fresh = await search(openLock, await openServer(), options);

    expect(await search(openLock, await sharedServer(), options)).toEqual(fresh);
  });
});

describe('search: it never says that a lock holds when a branch was cut', () => {
  test('time beyond the horizon', async () => {
    const result = await searchIn(fileOf('8-auto-renew'), 'long-sale', { horizonMs: 700 });

    expect(result).toMatchObject({ verdict: 'unknown', schedules: 0 });
    expect(result.cut).toBeGreaterThan(0);
    expect(result.reason).toBe(`${result.cut} interleavings take longer than 700 ms, where the model checker stops.`);
  });

  test('more states than it may see: with as many as there are it holds, with fewer it says how many it saw', async () => {
    const { states } = await searchIn(fileOf('4-ttl'), 'plain');
    const result = await searchIn(fileOf('4-ttl'), 'plain', { mostStates: states - 20 });

    expect(await searchIn(fileOf('4-ttl'), 'plain', { mostStates: states })).toMatchObject({
      verdict: 'holds',
      states,
    });
    expect(result).toMatchObject({ verdict: 'unknown', schedules: 0 });
    expect(result.cut).toBeGreaterThan(0);
    expect(result.reason).toBe(
      `The model checker stopped at ${result.states} states, before it had seen every interleaving.`,
    );
  });

  test('more memory than it may have', async () => {
    const result = await searchIn(fileOf('4-ttl'), 'plain', { mostMemory: 1_000_000 });

    expect(result).toMatchObject({
      verdict: 'unknown',
      reason: 'The model checker needs more than 1 MB.',
      schedules: 0,
    });
    expect(result.cut).toBeGreaterThan(0);
  });

  test('what is found before it is cut is found', async () => {
    const result = await searchIn(fileOf('4-ttl'), 'late-release', { horizonMs: 1_000 });

    expect(result).toMatchObject({ verdict: 'fails', schedules: 0 });
  });
});

// All of its orders: test/soak/prove.
test('search: what is sold together is no longer inside when it is written, though not all have their answer', async () => {
  const result = await searchIn(fileOf('combine'), 'slow-holder', { sales: 2, mostStates: 1_000 });

  expect(result).toMatchObject({ verdict: 'unknown', reason: expect.stringMatching(/^The model checker stopped at/) });
});

describe('search: a command that changes the lock that a holder', () => {
  /** A deletes the lock and fails; B takes it, and looks at something else before it enters. So both before and after that, A leads to one state. */
  const thief = () =>
    writeLock(
      `return {
        async acquire() {
          if (ownerToken !== 'A:1') {
            await redis.set(key, ownerToken, 'PX', leaseMs, 'NX');
            return void (await redis.get(key + ':else'));
          }
          await redis.del(key);
          throw new Error('it was only here to delete');
        },
        async release() {},
      };`,
    );
  const untouched: Scope = { ...scopeNamed('plain'), demands: ['untouched'] };

  test('it is found', async () => {
    const { verdict, reason, counterexample } = await searchIn(thief(), untouched);

    expect({ verdict, reason }).toEqual({
      verdict: 'fails',
      reason: 'A changes the lock that B holds: B is inside and within its lease.',
    });
    expect(counterexample?.at(-1)?.sent?.command).toEqual(['DEL', 'lock']);
  });
});

describe('search: a release that is held up', () => {
  /** All holders have one value, so a late release frees the lock of another, however it deletes. */
  const releasedBy = (release: string) =>
    writeLock(
      `return {
        async acquire() {
          while ((await redis.set(key, 'held', 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs);
        },
        async release() { await ${release}; },
      };`,
      "import { setTimeout as sleep } from 'node:timers/promises';",
    );

  test.each([
    'redis.del(key)',
    "redis.call('DELIFEQ', key, 'held')",
    "redis.call('set', key, 'held', 'ifeq', 'held', 'PXAT', 1)",
  ])('%s: it is known for one', async (release) => {
    const { verdict, counterexample = [] } = await searchIn(releasedBy(release), 'late-release');

    expect(verdict).toBe('fails');
    expect(counterexample.map(({ kind }) => kind)).toContain('let go');
  });
});
