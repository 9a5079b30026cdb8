import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GameView, MoveView, PuzzleOrder } from '../../../live/puzzle-contract.ts';
import { type Game, openGame, openGround } from '../../../live/server/puzzle/game.ts';
import { type Level, levelNamed, levels } from '../../../live/server/puzzle/levels.ts';
import { openPuzzle } from '../../../live/server/puzzle/play.ts';
import { createPuzzle, type Puzzle } from '../../../live/server/puzzle.ts';
import type { Refusal } from '../../../live/server/refusal.ts';
import { texts } from '../../../live/texts/en.ts';
import { formatOrders } from '../../../loadtest/prove/claim.ts';
import { search } from '../../../prove/search.ts';

// Every level, by its search, by random play and by its hints: test/soak/live/server/puzzle.test.ts.
const { move: wordsOf, steps: stepTexts, faults: faultsText } = texts.puzzle;
const BROKEN = '4-ttl/slow-holder';
const HOLDING = '7-reentrant/nested-call';

const groundOf = (name: string) => openGround(named(name));

function named(name: string): Level {
  const found = levelNamed(name);
  if (found === undefined) throw new Error(`There is no level ${name}.`);
  return found;
}

test('puzzle: each stage has a level that can be broken and one that holds, and so has fenced', () => {
  const stages = (expects: Level['expects']) =>
    levels.filter((level) => level.expects === expects).map(({ choice }) => choice.stage);

  expect(stages('fails')).toEqual(stages('holds'));
  expect(stages('fails')).toEqual([
    '1-in-process',
    '2-recursive-retry',
    '3-spin',
    '4-ttl',
    '5-owner-check',
    '6-lua-release',
    '7-reentrant',
    '8-auto-renew',
    'fenced',
  ]);
});

/** Makes the moves that read so. */
async function playTexts(game: Game, texts: string[]) {
  for (const text of texts) {
    const { moves } = game.board();
    const move = moves.find((each) => wordsOf(each) === text);
    if (move === undefined) throw new Error(`"${text}" is none of:\n${moves.map(wordsOf).join('\n')}`);
    await game.make(move.index);
  }
}

describe('puzzle: a game by hand', () => {
  test('4-ttl, slow-holder: a paused holder deletes the lock of the next one', async () => {
    const game = await openGame(await groundOf('4-ttl/slow-holder'));
    await playTexts(game, [
      'A begins a sale',
      "A's SET lock reaches Redis",
      "A's GET stock reaches Redis",
      'A is paused',
      'The lease of A ends: 901 ms pass',
      'A wakes up',
      'B begins a sale',
      "B's SET lock reaches Redis",
      "A's SET stock reaches Redis",
    ]);

    expect(game.board()).toMatchObject({
      standing: { is: 'going' },
      atMs: 901,
      faultsLeft: { pauses: 0, delays: 0, crashes: 0, failovers: 0 },
      processes: [
        { name: 'A', is: 'leaving', away: null, hasLock: false, onItsWay: 'DEL lock' },
        { name: 'B', is: 'inside', hasLock: true, did: [{ step: 'entered' }], onItsWay: 'GET stock' },
      ],
      redis: { lock: { holder: 'B', value: 'held', leftMs: 900 }, leaseMs: 900, stock: 9, expected: 9, others: [] },
    });

    await playTexts(game, ["A's DEL lock reaches Redis"]);

    expect(game.board()).toMatchObject({
      standing: { is: 'won', reason: 'A changes the lock of B, which is inside and within its lease.' },
      redis: { lock: null },
      moves: [],
      step: 10,
    });
    expect(game.board().steps.at(-1)).toEqual({
      atMs: 901,
      who: 'A',
      happens: { is: 'command', command: 'DEL lock' },
      command: 'DEL lock',
      reply: '1',
      came: [{ step: 'released' }],
    });
    expect(game.board().steps.map(stepTexts.sentence)).toEqual([
      'A begins a sale.',
      `A's SET lock reaches Redis → "OK". A is inside.`,
      `A's GET stock reaches Redis → "10". A has read stock 10.`,
      'A is paused.',
      'The lease of A ends: 901 ms pass.',
      'A wakes up.',
      'B begins a sale.',
      `B's SET lock reaches Redis → "OK". B is inside.`,
      `A's SET stock reaches Redis → "OK". A has written stock 9, leaves.`,
      "A's DEL lock reaches Redis → 1. A has given the lock up.",
    ]);
    expect(faultsText(game.board().faultsLeft)).toBe('What may still go wrong: nothing.');
  });

  test('undo and again: the game stands where it stood', async () => {
    const game = await openGame(await groundOf('5-owner-check/late-release'));
    const seen = [game.board()];
    for (let { moves } = game.board(); moves.length > 0; { moves } = game.board()) {
      await game.make(moves[seen.length % moves.length]?.index ?? -1);
      seen.push(game.board());
    }
    for (const board of seen.toReversed()) {
      expect(game.board()).toEqual(board);
      game.back(1);
    }
    expect(game.board()).toEqual(seen[0]);
    await game.make(0);
    await game.make(0);
    game.back(99);
    expect(game.board()).toEqual(seen[0]);
  });

  test('go on: it ends where there is a choice, and at the end', async () => {
    const game = await openGame(await groundOf('3-spin/crashed-holder'));
    await playTexts(game, ['A begins a sale', "A's SET lock reaches Redis", 'A is killed']);
    await game.goOn();

    expect(game.board().standing).toEqual({
      is: 'won',
      reason: 'Nobody has entered within two leases (1800 ms) of the crash.',
    });
  });

  test('a move that there is not changes nothing', async () => {
    const game = await openGame(await groundOf('1-in-process/plain'));
    const before = game.board();

    await expect(game.make(7)).rejects.toThrow('There is no move 7 among 1.');
    await expect(game.makeNamed('a step of another level')).rejects.toThrow('There is no move -1');
    expect(game.board()).toEqual(before);
  });
});

let puzzle: Puzzle;
let changes = 0;

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

/** Makes moves for as long as there are any: the first that is meant. */
async function playOn(isMeant: (move: MoveView) => boolean = () => true, each = async () => {}) {
  for (let { moves, step } = game(); moves.length > 0; { moves, step } = game()) {
    await each();
    await give({ do: 'move', index: moves.find(isMeant)?.index ?? -1, step });
  }
}

const open = (level: string) => give({ do: 'open', level });

function refusalOf(order: PuzzleOrder): string | undefined {
  try {
    puzzle.order(order);
    return undefined;
  } catch (error) {
    return (error as Refusal).code;
  }
}

describe('puzzle: on its threads', () => {
  beforeAll(async () => {
    // Its threads are bundled first: esbuild, which reads the locks of the tests above, is stopped when a bundle is made.
    puzzle = createPuzzle({ onChange: () => (changes += 1) });
    await puzzle.settled();
  });
  afterAll(() => puzzle.close());

  test('hints alone win in as many steps as the search says, and the page is told', async () => {
    const { knows } = await open(BROKEN);
    if (knows.is !== 'can') throw new Error(`The search says ${knows.is}.`);
    await followHints();

    expect(game()).toMatchObject({ standing: { is: 'won' }, step: knows.steps, hints: knows.steps, hint: null });
    expect(changes).toBeGreaterThan(knows.steps);
  });

  test('a hint after a bad move says how far to go back, and from there hints win', async () => {
    await open(BROKEN);
    // Nothing goes wrong, so nothing is broken.
    await playOn(({ happens }) => happens.is !== 'pause' && happens.is !== 'hold up');
    expect(game().standing.is).toMatch(/^(ended|out of time)$/);
    const { hint, step } = await give({ do: 'hint' });
    if (hint?.is !== 'go back') throw new Error(`The hint says ${hint?.is}.`);

    expect(hint.steps).toBeGreaterThan(0);
    for (let back = 0; back < hint.steps; back += 1) await give({ do: 'undo' });
    expect(game().step).toBe(step - hint.steps);
    await followHints();
    expect(game().standing.is).toBe('won');
  });

  test('of a level that holds it says of how many orders none does it; no hint leads there, and what is sent is small', async () => {
    const { openLock, server, options } = await groundOf(HOLDING);
    const { states, schedules } = await search(openLock, server, { ...options, mostMemory: 1e9 });

    expect((await open(HOLDING)).knows).toEqual({ is: 'holds', orders: formatOrders(schedules), states });
    await playOn(undefined, async () => {
      expect((await give({ do: 'hint' })).hint).toEqual({ is: 'impossible' });
      expect(JSON.stringify(puzzle.read()).length).toBeLessThan(30_000);
    });
    expect(game().standing.is).toMatch(/^(ended|out of time)$/);
  });

  test('a double click moves once', async () => {
    await open('4-ttl/slow-holder');
    puzzle.order({ do: 'move', index: 0, step: 0 });

    expect(refusalOf({ do: 'move', index: 0, step: 0 })).toBe('BUSY');
    await puzzle.settled();
    expect(refusalOf({ do: 'move', index: 0, step: 0 })).toBe('STEP_IS_OVER');
    expect(game().step).toBe(1);
  });

  test('what does not fit is refused, and changes nothing', async () => {
    const before = await open('4-ttl/slow-holder');

    expect(refusalOf({ do: 'move', index: 9, step: 0 })).toBe('NO_SUCH_MOVE');
    expect(refusalOf({ do: 'open', level: '4-ttl/nothing' })).toBe('NO_SUCH_LEVEL');
    expect(game()).toEqual(before);
    puzzle.order({ do: 'close' });
    expect(puzzle.read()).toMatchObject({ game: null, opening: null, trouble: null });
    expect(refusalOf({ do: 'undo' })).toBe('NO_LEVEL');
  });

  test('the level that was chosen last is the one that is open', async () => {
    puzzle.order({ do: 'open', level: '3-spin/crashed-holder' });
    puzzle.order({ do: 'open', level: '5-owner-check/late-release' });
    expect(puzzle.read().opening).toBe('5-owner-check/late-release');
    const { level } = await open('7-reentrant/paused-process');

    expect(level.name).toBe('7-reentrant/paused-process');
    expect(puzzle.read().opening).toBeNull();
  });

  test('the search keeps nobody waiting: moves are made while it goes on, and a level is closed in the middle of it', async () => {
    // With so many processes the search takes minutes.
    const level = { ...named('8-auto-renew/long-sale'), processes: 4 };
    const problems: Error[] = [];
    let noteChange = () => {};
    const opened = await openPuzzle(level, {
      onChange: () => noteChange(),
      onTrouble: (error) => problems.push(error),
    });
    for (let made = 0; made < 5; made += 1) {
      const { moves, step } = opened.read();
      const changed = new Promise<void>((resolve) => {
        noteChange = resolve;
      });
      opened.order({ do: 'move', index: moves[0]?.index ?? -1, step });
      await changed;
    }
    opened.order({ do: 'hint' });

    expect(opened.read()).toMatchObject({ step: 5, knows: { is: 'searching' }, hint: { is: 'searching' } });
    await opened.close();
    await opened.settled();
    expect(problems).toEqual([]);
  });

  test('a lock that can not be read is trouble, and no thread is left', async () => {
    const level = { ...named('4-ttl/slow-holder'), file: '/there/is/no/lock.ts' };
    const opening = openPuzzle(level, { onChange() {}, onTrouble() {} });

    await expect(opening).rejects.toThrow('there is no file /there/is/no/lock.ts');
  });
});
