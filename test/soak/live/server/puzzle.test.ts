import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GameView, MoveView, PuzzleOrder } from '../../../../live/puzzle-contract.ts';
import { type Ground, nameOfStep, openGame, openGround } from '../../../../live/server/puzzle/game.ts';
import { type Level, levelNamed, levels } from '../../../../live/server/puzzle/levels.ts';
import { createPuzzle, type Puzzle } from '../../../../live/server/puzzle.ts';
import { texts } from '../../../../live/texts/en.ts';
import { formatOrders } from '../../../../loadtest/prove/claim.ts';
import { replay } from '../../../../prove/replay.ts';
import { search } from '../../../../prove/search.ts';
import { drawing } from '../../../prove/drawn.ts';

const notBroken = /^(ended|out of time)$/;
const { move: wordsOf } = texts.puzzle;

const grounds = new Map<string, Promise<Ground>>();

function groundOf(name: string): Promise<Ground> {
  const found = grounds.get(name) ?? openGround(named(name));
  grounds.set(name, found);
  return found;
}

function named(name: string): Level {
  const found = levelNamed(name);
  if (found === undefined) throw new Error(`There is no level ${name}.`);
  return found;
}

async function searchUnder(name: string) {
  const { openLock, server, options } = await groundOf(name);
  return search(openLock, server, { ...options, mostMemory: 1e9 });
}

const names = (expects: Level['expects']) =>
  levels.filter((level) => level.expects === expects).map(({ choice }) => choice.name);
const broken = names('fails');
const holding = names('holds');

describe('puzzle: the levels are those of the search', () => {
  test.each(levels.map(({ choice, expects }) => [choice.name, expects]))('%s %s', async (name, expects) => {
    expect(await searchUnder(name)).toMatchObject({ verdict: expects });
  });
});

describe('puzzle: a scripted player wins by the shortest counterexample', () => {
  test.each(broken)('%s', async (name) => {
    const ground = await groundOf(name);
    const { counterexample = [], reason } = await searchUnder(name);
    const game = await openGame(ground);
    for (const step of counterexample) await game.makeNamed(nameOfStep(step));

    expect(game.board()).toMatchObject({ standing: { is: 'won', reason }, step: counterexample.length, moves: [] });
    expect(game.steps()).toEqual(counterexample);
  });

  test.each(broken)(
    '%s: the steps of the won game go the same way on fresh processes and a second Valkey',
    async (name) => {
      const ground = await groundOf(name);
      const game = await openGame(ground);
      const { counterexample = [] } = await searchUnder(name);
      for (const step of counterexample) await game.makeNamed(nameOfStep(step));

      const { openLock, options } = ground;
      expect(await replay(game.steps(), { ...options, openLock })).toBeUndefined();
    },
  );
});

describe('puzzle: random play', () => {
  test.each(levels.map(({ choice }) => choice.name))(
    '%s: every offered move can be made, and no two read alike',
    async (name) => {
      const ground = await groundOf(name);
      await fc.assert(
        fc.asyncProperty(fc.infiniteStream(fc.nat()), async (choices) => {
          const game = await openGame(ground);
          for (let { moves } = game.board(); moves.length > 0; { moves } = game.board()) {
            expect(new Set(moves.map(wordsOf)).size).toBe(moves.length);
            expect(game.board().standing).toEqual({ is: 'going' });
            await game.make(moves[choices.next().value % moves.length]?.index ?? -1);
          }
          const board = game.board();

          expect(board.standing.is).toMatch(/^(won|ended|out of time)$/);
          if (holding.includes(name)) expect(board.standing.is).toMatch(notBroken);
          expect(JSON.stringify(board).length).toBeLessThan(24_000);
          game.back(board.step);
          for (const index of board.way) await game.make(index);
          expect(game.board()).toEqual(board);
        }),
        { seed: 23, numRuns: 25 },
      );
    },
  );
});

const changes = { count: 0 };
let puzzle: Puzzle;
afterAll(() => puzzle?.close());

/** Its threads are bundled first: esbuild, which reads the locks of the tests above, is stopped when a bundle is made. */
async function openPage() {
  puzzle ??= createPuzzle({ onChange: () => (changes.count += 1) });
  await puzzle.settled();
}

function game(): GameView {
  const { game } = puzzle.read();
  if (game === null) throw new Error(puzzle.read().trouble ?? 'No level is open.');
  return game;
}

/** Gives an order, and waits for what comes of it. */
async function give(order: PuzzleOrder): Promise<GameView> {
  puzzle.order(order);
  await puzzle.settled();
  return game();
}

/** Asks for hints for as long as they make moves. */
async function followHints() {
  for (let before = -1; game().step > before && game().standing.is === 'going'; ) {
    before = game().step;
    await give({ do: 'hint' });
  }
}

const open = (level: string) => give({ do: 'open', level });

describe('puzzle: on its threads', () => {
  beforeAll(openPage);

  test.each(broken)('%s: hints alone win in as many steps as the search says', async (name) => {
    const { knows } = await open(name);
    if (knows.is !== 'can') throw new Error(`The search says ${knows.is}.`);
    await followHints();

    expect(game()).toMatchObject({ standing: { is: 'won' }, step: knows.steps, hints: knows.steps, hint: null });
  });

  test.each(['4-ttl/slow-holder', '7-reentrant/paused-process', '8-auto-renew/late-write'])(
    '%s: a hint after a bad move says how far to go back, and from there hints win',
    async (name) => {
      await open(name);
      // Nothing goes wrong, so nothing is broken.
      const isFault = ({ happens }: MoveView) => happens.is === 'pause' || happens.is === 'hold up';
      for (let { moves, step } = game(); moves.length > 0; { moves, step } = game()) {
        const move = moves.find((each) => !isFault(each));
        await give({ do: 'move', index: move?.index ?? -1, step });
      }
      expect(game().standing.is).toMatch(notBroken);
      const { hint, step } = await give({ do: 'hint' });
      if (hint?.is !== 'go back') throw new Error(`The hint says ${hint?.is}.`);

      expect(hint.steps).toBeGreaterThan(0);
      for (let back = 0; back < hint.steps; back += 1) await give({ do: 'undo' });
      expect(game().step).toBe(step - hint.steps);
      await followHints();
      expect(game().standing.is).toBe('won');
    },
  );

  test('hints go on from where the player stands: a detour costs steps, and still wins', async () => {
    const { knows } = await open('6-lua-release/long-sale');
    await give({ do: 'move', index: 0, step: 0 });
    await give({ do: 'move', index: game().moves.at(-1)?.index ?? -1, step: 1 });
    await followHints();

    expect(game().standing.is).toBe('won');
    expect(game().step).toBeGreaterThanOrEqual(knows.is === 'can' ? knows.steps : 0);
  });

  test.each(holding)('%s: it says of how many orders none does it, and no hint leads there', async (name) => {
    const { states, schedules } = await searchUnder(name);
    const opened = await open(name);

    expect(opened.knows).toEqual({ is: 'holds', orders: formatOrders(schedules), states });
    const draw = drawing(9);
    for (let { moves, step } = game(); moves.length > 0; { moves, step } = game()) {
      expect((await give({ do: 'hint' })).hint).toEqual({ is: 'impossible' });
      await give({ do: 'move', index: draw.oneOf(moves).index, step });
    }
    expect(game().standing.is).toMatch(notBroken);
  });

  test('what is sent stays small', async () => {
    await open('8-auto-renew/long-sale');
    const draw = drawing(5);
    for (let { moves, step } = game(); moves.length > 0; { moves, step } = game()) {
      await give({ do: 'move', index: draw.oneOf(moves).index, step });
      expect(JSON.stringify(puzzle.read()).length).toBeLessThan(30_000);
    }
    expect(changes.count).toBeGreaterThan(0);
  });
});
