import { describe, expect, test } from 'vitest';
import { type History, startProcess } from '../../prove/process.ts';
import { scopes } from '../../prove/scopes.ts';
import type { State } from '../../prove/state.ts';
import type { Input } from '../../virtual/world.ts';
import { drawing } from './drawn.ts';
import { fileOf, movesUnder, open, searchIn, writeLock } from './own-locks.ts';

const script = { businessMs: 0 };

/** Walks at random to an end. Returns what happened to A, and the last state. */
async function walkUnder(stage: string, scope: string, seed: number) {
  const draw = drawing(seed);
  const { begin, movesFrom } = await movesUnder(fileOf(stage), scope);
  const inputs: Input[] = [];
  let state: State = begin();
  for (let { moves } = await movesFrom(state); moves.length > 0; { moves } = await movesFrom(state)) {
    const move = draw.oneOf(moves);
    const { process, input } = move.step();
    if (process === 'A' && input) inputs.push(input);
    state = move.state;
  }
  return { inputs, history: state.actors[0]?.history as History };
}

describe('process: a function of what has happened to it', () => {
  test.each([
    ['8-auto-renew', 'slow-holder'],
    ['cohort', 'slow-holder'],
    ['fair', 'client-gone'],
  ])('%s, %s: fresh processes with the same inputs have the same commands, timers and steps', async (stage, scope) => {
    const openLock = await open(fileOf(stage));
    const more = scopes.find(({ name }) => name === scope)?.script?.(0);
    for (const seed of [1, 2, 3]) {
      const { inputs, history } = await walkUnder(stage, scope, seed);
      const again = startProcess('A', { openLock, servers: 1, sales: 1, script: { ...script, ...more } });
      for (const input of inputs) await again.apply(input);

      expect(history.seen.told.length).toBeGreaterThan(0);
      expect(again.seen()).toEqual(history.seen);
    }
  });

  test('two processes share no variable of the lock’s file', async () => {
    const file = writeLock(
      "return { async acquire() { count += 1; await redis.set('count', count); }, async release() {} };",
      'let count = 0;',
    );
    const openLock = await open(file);
    const commands = [];
    for (const name of ['A', 'B']) {
      const process = startProcess(name, { openLock, servers: 1, sales: 1, script });
      await process.apply({ at: 0, chance: 0, type: 'begins' });
      commands.push(process.seen().pending[0]?.command);
    }

    expect(commands).toEqual([
      ['SET', 'count', 1],
      ['SET', 'count', 1],
    ]);
  });
});

// A promise that nobody waits for ends a process as well: test/exercises/errors.
describe('process: what nobody catches', () => {
  test('an error in a timer ends the process, and is named', async () => {
    const file = writeLock(
      "return { async acquire() { setTimeout(() => { throw new Error('the watchdog broke') }, 100); }, async release() {} };",
    );

    expect(await searchIn(file, 'late-release')).toMatchObject({
      verdict: 'fails',
      reason: 'A ends by an error that nobody catches: the watchdog broke',
    });
  });

  test('an error of a sale is its failure, and no end of the process', async () => {
    const file = writeLock("return { async acquire() { throw new Error('no lock today') }, async release() {} };");

    expect(await searchIn(file, 'late-release')).toMatchObject({ verdict: 'holds' });
    expect(await searchIn(file, 'lost-wakeup')).toMatchObject({
      verdict: 'fails',
      reason: 'A fails: no lock today',
    });
  });
});
