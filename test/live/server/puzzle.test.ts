import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GameView, MoveView, PuzzleOrder } from '../../../live/puzzle-contract.ts';
import { openGround } from '../../../live/server/puzzle/game.ts';
import { type Level, levelNamed, levels } from '../../../live/server/puzzle/levels.ts';
import { createPuzzle, type Puzzle } from '../../../live/server/puzzle.ts';
import type { Refusal } from '../../../live/server/refusal.ts';
import { formatOrders } from '../../../loadtest/evidence/numbers.ts';
import { search } from '../../../prove/search.ts';

const BROKEN = '4-ttl/slow-holder';
const HOLDING = '7-reentrant/nested-call';

const named = (name: string) => levelNamed(name) as Level;
const groundOf = (name: string) => openGround(named(name));

test('puzzle: each stage has a level that can be broken and one that holds, and so has fenced', () => {
  const stages = (expects: Level['expects']) =>
    levels.filter((level) => level.expects === expects).map(({ choice }) => choice.stage);

  expect(stages('fails')).toEqual(stages('holds'));
  expect(stages('fails')).toHaveLength(9);
});

describe('puzzle: on its threads', () => {
  let puzzle: Puzzle;
  let changes = 0;
  beforeAll(async () => {
    // Its threads are bundled first: esbuild, which reads the locks of the tests above, is stopped when a bundle is made.
    puzzle = createPuzzle({ onChange: () => (changes += 1) });
    await puzzle.settled();
  });
  afterAll(() => puzzle.close());

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

  /** Makes moves for as long as there are any: the first that is meant. */
  async function playOn(isMeant: (move: MoveView) => boolean = () => true) {
    for (let { moves, step } = game(); moves.length > 0; { moves, step } = game()) {
      await give({ do: 'move', index: moves.find(isMeant)?.index ?? -1, step });
    }
  }

  const refusalOf = (order: PuzzleOrder) => {
    try {
      return void puzzle.order(order);
    } catch (error) {
      return (error as Refusal).code;
    }
  };

  test('hints alone win in as many steps as the search says; after a bad move one says how far to go back, and then they win', async () => {
    const followHints = async () => {
      while (game().standing.is === 'going') await give({ do: 'hint' });
    };
    const { knows } = await give({ do: 'open', level: BROKEN });
    if (knows.is !== 'can') throw new Error(`The search says ${knows.is}.`);
    await followHints();
    expect(game()).toMatchObject({ standing: { is: 'won' }, step: knows.steps, hints: knows.steps, hint: null });
    expect(changes).toBeGreaterThan(knows.steps);

    await give({ do: 'open', level: BROKEN });
    // Nothing goes wrong, so nothing is broken.
    await playOn(({ happens }) => happens.is !== 'pause' && happens.is !== 'hold up');
    expect(game().standing.is).toMatch(/^(ended|out of time)$/);
    const { hint } = await give({ do: 'hint' });
    if (hint?.is !== 'go back') throw new Error(`The hint says ${hint?.is}.`);

    for (let back = 0; back < hint.steps; back += 1) await give({ do: 'undo' });
    await followHints();
    expect(game().standing.is).toBe('won');
  });

  test('of a level that holds it says of how many orders none does it, and no hint leads there', async () => {
    const { openLock, server, options } = await groundOf(HOLDING);
    const { states, schedules } = await search(openLock, server, { ...options, mostMemory: 1e9 });

    const { knows } = await give({ do: 'open', level: HOLDING });
    expect(knows).toEqual({ is: 'holds', orders: formatOrders(schedules), states });
    expect((await give({ do: 'hint' })).hint).toEqual({ is: 'impossible' });
    await playOn();
    expect(game().standing.is).toMatch(/^(ended|out of time)$/);
  });

  test('a double click moves once, and what does not fit is refused and changes nothing', async () => {
    puzzle.order({ do: 'open', level: '3-spin/crashed-holder' });
    // The level that was chosen last is the one that is open.
    const { level } = await give({ do: 'open', level: BROKEN });
    expect(level.name).toBe(BROKEN);
    puzzle.order({ do: 'move', index: 0, step: 0 });
    expect(refusalOf({ do: 'move', index: 0, step: 0 })).toBe('BUSY');
    await puzzle.settled();
    expect(refusalOf({ do: 'move', index: 0, step: 0 })).toBe('STEP_IS_OVER');
    expect(game().step).toBe(1);

    const before = game();
    expect(refusalOf({ do: 'move', index: 9, step: 1 })).toBe('NO_SUCH_MOVE');
    expect(refusalOf({ do: 'open', level: '4-ttl/nothing' })).toBe('NO_SUCH_LEVEL');
    expect(game()).toEqual(before);
    puzzle.order({ do: 'close' });
    expect(puzzle.read()).toMatchObject({ game: null, opening: null, trouble: null });
    expect(refusalOf({ do: 'undo' })).toBe('NO_LEVEL');
  });
});
